"""What became of commands whose commit was sent and whose reply never came."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

import psycopg
from psycopg import AsyncConnection

from service.event_log.append import Append, Appended

SETTLE_TIMEOUT_S = 10.0
RECONNECT_S = 0.2

logger = logging.getLogger(__name__)

BACKEND = """
    SELECT pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()
"""
# The pid alone could belong to a new backend by now.
TERMINATE = """
    SELECT pg_terminate_backend(pid, 1000)
      FROM pg_stat_activity
     WHERE pid = %(pid)s AND backend_start = %(backend_start)s
"""
RECORDED = """
    SELECT command_id, recorded_at,
           (SELECT max(later.notification_id)
              FROM events.stored_event later
             WHERE later.notification_id >= found.notification_id
               AND later.notification_id < found.notification_id + %(events)s)
      FROM events.stored_event found
     WHERE originator_id = %(id)s AND originator_version = %(version)s
"""
RECEIPT = """
    SELECT request, answer, position, recorded_at
      FROM events.receipt
     WHERE key = %(key)s
"""


@dataclass(frozen=True, slots=True)
class Backend:
    """A server process; its start time tells it from a later one with its pid."""

    pid: int
    backend_start: datetime

    @classmethod
    async def of(cls, connection: AsyncConnection) -> Self:
        cursor = await connection.execute(BACKEND)
        row = await cursor.fetchone()
        assert row is not None
        return cls(*row)


async def settle(
    conninfo: str, backend: Backend, batch: Sequence[Append]
) -> list[Appended | None] | None:
    """Say for each command where it was appended, or None where it was not.

    Ends the old server process first: it could still be about to commit. Returns
    None when the database can't be asked in time.
    """
    try:
        async with asyncio.timeout(SETTLE_TIMEOUT_S):
            while True:
                try:
                    return await _ask(conninfo, backend, batch)
                except (psycopg.Error, OSError):
                    await asyncio.sleep(RECONNECT_S)
    except TimeoutError:
        logger.exception("the outcome of a commit can't be settled")
        return None


async def _ask(
    conninfo: str, backend: Backend, batch: Sequence[Append]
) -> list[Appended | None]:
    async with await AsyncConnection.connect(
        conninfo, autocommit=True, connect_timeout=2
    ) as connection:
        ended = await connection.execute(
            TERMINATE, {"pid": backend.pid, "backend_start": backend.backend_start}
        )
        for (gone,) in await ended.fetchall():
            if not gone:
                raise psycopg.OperationalError("the old backend is still there")
        return [await _find(connection, append) for append in batch]


async def _find(connection: AsyncConnection, append: Append) -> Appended | None:
    if append.events:
        first = append.events[0]
        cursor = await connection.execute(
            RECORDED,
            {
                "id": first.originator_id,
                "version": first.originator_version,
                "events": len(append.events),
            },
        )
        row = await cursor.fetchone()
        if row is None or row[0] != append.command_id:
            return None
        return Appended(position=row[2], recorded_at=row[1])
    if append.receipt:
        cursor = await connection.execute(RECEIPT, {"key": append.receipt.key})
        row = await cursor.fetchone()
        # The same answer by the same key: whoever kept it, it is this command's.
        if row is not None and row[0] == append.receipt.request:
            return Appended(position=None, recorded_at=row[3])
    return None
