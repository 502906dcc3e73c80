"""A bound on the processes that write to one log: each one more slows the others."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import ceil
from typing import Final

import psycopg

from service.database import TRY_ADVISORY_LOCK, Db, connect, service_conninfo
from service.errors import StartError
from service.tasks import end_tasks

WRITERS_MAX: Final = 3
# A process that ends beside this one's start has closed its connections by then.
WAIT_S = 10.0
CHECK_S = 1.0
# The server ends the connection of a machine that has vanished, and with it the lock.
SERVER_KEEPALIVE = {
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
}

logger = logging.getLogger(__name__)


@asynccontextmanager
async def writer_slot(database_url: str) -> AsyncIterator[None]:
    """Hold one of the log's writer slots, an advisory lock, until the block ends.

    It is lost with its connection, and taken again; the process writes meanwhile.

    :raises StartError: all of them are taken
    """
    conninfo = service_conninfo(database_url, **SERVER_KEEPALIVE)
    async with await connect(conninfo) as connection:
        await _take_in_time(connection)
        task = asyncio.create_task(_keep(connection, conninfo), name="writer slot")
        try:
            yield
        finally:
            await end_tasks(task)


async def _take_in_time(connection: Db) -> None:
    for _ in range(ceil(WAIT_S / CHECK_S)):
        if await _take(connection):
            return
        await asyncio.sleep(CHECK_S)
    raise StartError(
        f"{WRITERS_MAX} processes write to this log already, and each one more would "
        "make every write slower: start this one with --only api --reads-only, or stop "
        "another one"
    )


async def _take(connection: Db) -> bool:
    for number in range(WRITERS_MAX):
        name = f"agent-runtime writer {number}"
        row = await (await connection.execute(TRY_ADVISORY_LOCK, [name])).fetchone()
        assert row is not None
        if row[0]:
            return True
    return False


async def _keep(connection: Db, conninfo: str) -> None:
    """Keep the lock's connection, or make another one, until cancelled."""
    while True:
        try:
            async with connection:
                while True:
                    await asyncio.sleep(CHECK_S)
                    await connection.execute("SELECT 1")
        except (psycopg.Error, OSError):
            logger.warning("the connection of the writer slot was lost")
        connection = await _taken_again(conninfo)


async def _taken_again(conninfo: str) -> Db:
    while True:
        await asyncio.sleep(CHECK_S)
        try:
            connection = await connect(conninfo)
        except (psycopg.Error, OSError):
            continue
        try:
            if await _take(connection):
                return connection
        except (psycopg.Error, OSError):
            pass
        await connection.close()
