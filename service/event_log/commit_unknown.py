"""Find the outcome of commands whose commit was sent and got no reply."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

import psycopg
from psycopg import AsyncConnection
from psycopg.pq import TransactionStatus

from service.database import connect, deadline, message_of
from service.event_log.append import Append, Appended
from service.event_log.durable import (
    NotReplicatedError,
    wait_at_most_for_standbys,
)

ASK_TIMEOUT_S = 2.0
CONNECT_TIMEOUT_S = 2
RECONNECT_S = 0.2

logger = logging.getLogger(__name__)

# A process is hidden from, and can't be ended by, any role but the one that logged in.
AS_LOGIN_ROLE = "SET LOCAL ROLE NONE"
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
      FROM events.valid_receipt
     WHERE key = %(key)s
"""


@dataclass(frozen=True, slots=True)
class Backend:
    """A server process; its start time tells it from a later one with its pid."""

    pid: int
    backend_start: datetime

    @classmethod
    async def of(cls, connection: AsyncConnection) -> Self:
        async with connection.transaction():
            await connection.execute(AS_LOGIN_ROLE)
            cursor = await connection.execute(BACKEND)
            row = await cursor.fetchone()
        assert row is not None
        assert row[1] is not None, "another backend could be taken for this one"
        return cls(*row)


def was_refused(connection: AsyncConnection, error: Exception) -> bool:
    """Say whether a failure proves that nothing was committed.

    It does when the server has answered with an error and goes on, or when the
    driver couldn't even send. A server that is shutting down (57P...) may have
    committed before it said so.
    """
    if connection.closed or isinstance(error, OSError | NotReplicatedError):
        return False
    if connection.info.transaction_status is not TransactionStatus.IDLE:
        return False
    sqlstate = getattr(error, "sqlstate", None) or ""
    return not sqlstate.startswith(("08", "57P")) and not (
        isinstance(error, psycopg.OperationalError) and not sqlstate
    )


async def settle(
    conninfo: str, backend: Backend, batch: Sequence[Append], *, timeout_s: float
) -> list[Appended | None] | None:
    """Return each command's result, or None for one that was not appended.

    Terminates the old server process first, which could still commit. Returns None
    for the whole batch when the database can't be queried in time, and when the
    synchronous standbys don't get the commit in time: a fail-over would lose it.
    """
    clock = asyncio.get_running_loop().time
    give_up = clock() + timeout_s
    while (left := give_up - clock()) > 0:
        try:
            return await _ask(conninfo, backend, batch, timeout_s=left)
        except (psycopg.Error, OSError, NotReplicatedError) as error:
            logger.warning(
                "can't look up the outcome of a commit yet: %s", message_of(error)
            )
            await asyncio.sleep(RECONNECT_S)
    logger.error("the outcome of a commit stays unknown")
    return None


async def _ask(
    conninfo: str, backend: Backend, batch: Sequence[Append], *, timeout_s: float
) -> list[Appended | None]:
    async with await connect(conninfo, timeout_s=CONNECT_TIMEOUT_S) as connection:
        with deadline(connection, min(timeout_s, ASK_TIMEOUT_S)):
            await _end(connection, backend)
        with deadline(connection, timeout_s):
            found = [await _find(connection, append) for append in batch]
        if any(found):
            # Terminating the old server process has ended its own wait for the
            # standbys, and left its commit.
            await wait_at_most_for_standbys(connection, timeout_s)
        return found


async def _end(connection: AsyncConnection, backend: Backend) -> None:
    async with connection.transaction():
        await connection.execute(AS_LOGIN_ROLE)
        cursor = await connection.execute(
            TERMINATE, {"pid": backend.pid, "backend_start": backend.backend_start}
        )
        for (gone,) in await cursor.fetchall():
            if not gone:
                raise psycopg.OperationalError("the old backend is still there")


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
        # The same key with the same answer is this command's receipt. With another
        # answer the key had been used before, as the next submission finds out.
        ours = (append.receipt.request, append.receipt.answer, None)
        if row is not None and row[:3] == ours:
            return Appended(position=None, recorded_at=row[3])
    return None
