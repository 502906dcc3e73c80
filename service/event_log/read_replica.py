"""Servers that reads are asked of: the primary, and a read replica that is watched."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Literal, NamedTuple
from uuid import UUID

import psycopg
from prometheus_client import Gauge
from psycopg.conninfo import conninfo_to_dict

from service.connection_pool import PoolBusyError, connection_pool
from service.database import (
    Db,
    Pool,
    connect,
    deadline,
    require_right_session,
    service_conninfo,
    shut_down_socket,
    time_limits,
)
from service.event_log.history import History
from service.tasks import background_task, end_tasks
from service.waits import Waits

WATCH_S = 0.5
ANSWER_S = 2.0
LAG_MAX_S = 5.0
# A read has a few statements; a server that is frozen keeps its connections open and
# answers none of them.
LENT_STATEMENTS = 3

AT_REPLICA = """
    SELECT h.epoch, h.position, e.command_id,
           CASE WHEN NOT pg_is_in_recovery() THEN events.server() END
      FROM events.head h
      LEFT JOIN events.stored_event e
        ON e.notification_id = least(h.position, %(known)s)
"""
AT_PRIMARY = """
    SELECT h.position, e.command_id,
           coalesce(extract(epoch FROM clock_timestamp() - n.recorded_at), 0)::float8
      FROM events.head h
      LEFT JOIN events.stored_event e
        ON e.notification_id = least(%(position)s, %(known)s)
      LEFT JOIN events.stored_event n ON n.notification_id = %(position)s + 1
"""

USABLE = Gauge(
    "agent_runtime_read_replica_usable",
    "1 while reads are asked of the read replica.",
    ["replica"],
)
LAG_EVENTS = Gauge(
    "agent_runtime_read_replica_lag_events",
    "Events that the read replica doesn't have yet.",
    ["replica"],
)
LAG_S = Gauge(
    "agent_runtime_read_replica_lag_seconds",
    "Age of the oldest event that the read replica doesn't have yet.",
    ["replica"],
)

logger = logging.getLogger(__name__)


class ReplicaLostError(Exception):
    """The read replica failed during a read; the primary can answer it."""


class ReadServer:
    """A PostgreSQL server that reads are asked of."""

    name: Literal["primary", "replica"] = "primary"

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Db]:
        """Lend a connection."""
        async with self._pool.connection() as db:
            yield db


class _Watched(NamedTuple):
    """The state of the replica: ``reason`` is why no reads go to it, if so."""

    epoch: UUID | None
    reason: str | None


class ReadReplica(ReadServer):
    """A standby that answers reads while it is near enough to the primary.

    Usable while it has the log of the primary, in the same epoch, and its lag is
    below ``LAG_MAX_S``. ``history`` is the log's, as this process knows it.
    """

    name = "replica"

    def __init__(
        self,
        conninfo: str,
        primary_conninfo: str,
        history: Callable[[], History],
        waits: Waits | None = None,
    ) -> None:
        waits = waits or Waits()
        self._replica_pool = connection_pool(conninfo, waits)
        self._lent_s = LENT_STATEMENTS * waits.statement_s
        super().__init__(self._replica_pool)
        self._conninfo = conninfo
        self._primary_conninfo = primary_conninfo
        self._history = history
        self._address = _address(conninfo)
        self._watched = _Watched(None, "it has not been asked yet")
        self._lent: set[Db] = set()
        # The last position of the primary at the last look, and whether the replica
        # was beyond it.
        self._head = 0
        self._was_ahead = False
        # Positions of the primary that the replica lacks, and when they were seen.
        self._lacking: deque[tuple[int, float]] = deque()
        self._found(self._watched)

    @property
    def is_usable(self) -> bool:
        watched = self._watched
        return watched.reason is None and watched.epoch == self._history().epoch

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Db]:
        """Lend a connection for a read.

        :raises ReplicaLostError: the server failed, or had to cancel the read to go on
            replaying the primary's log
        """
        try:
            async with self._replica_pool.connection() as db:
                self._lent.add(db)
                try:
                    with deadline(db, self._lent_s):
                        yield db
                finally:
                    self._lent.discard(db)
        except (PoolBusyError, psycopg.errors.QueryCanceled):
            # It is busy, or the read too slow: no better on the primary.
            raise
        except (psycopg.OperationalError, OSError) as error:
            if not isinstance(error, psycopg.errors.SerializationFailure):
                self._stop_asking("a read failed")
            raise ReplicaLostError from error

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Watch the server until the block ends; it may be away at any time."""
        await self._replica_pool.open()
        task = background_task(self._watch, name="read replica")
        try:
            yield
        finally:
            await end_tasks(task)
            await self._replica_pool.close()

    async def _watch(self) -> None:
        while True:
            try:
                async with (
                    await connect(self._conninfo) as replica,
                    await connect(self._primary_conninfo) as primary,
                ):
                    while True:
                        with deadline(replica, ANSWER_S), deadline(primary, ANSWER_S):
                            self._found(await self._look(replica, primary))
                        await asyncio.sleep(WATCH_S)
            except (psycopg.Error, OSError) as error:
                # The first line: the others name each address that was tried.
                reason = str(error).strip().partition("\n")[0]
                self._stop_asking(reason or "it doesn't answer")
            await asyncio.sleep(WATCH_S)

    async def _look(self, replica: Db, primary: Db) -> _Watched:
        known = {"known": self._head}
        row = await (await replica.execute(AT_REPLICA, known, prepare=True)).fetchone()
        assert row is not None
        epoch, position, command_id, own_server = row
        known["position"] = position
        row = await (await primary.execute(AT_PRIMARY, known, prepare=True)).fetchone()
        assert row is not None
        self._head, same_command_id, age_s = row
        lag_s = max(age_s, self._lacking_s(position))
        LAG_EVENTS.labels(self._address).set(max(self._head - position, 0))
        LAG_S.labels(self._address).set(lag_s)
        # A commit that waits for synchronous standbys is shown by others before.
        was_ahead, self._was_ahead = self._was_ahead, position > self._head
        reason = None
        if own_server not in (None, self._history().server):
            reason = "it is no standby any more"
        elif command_id != same_command_id or (was_ahead and self._was_ahead):
            reason = "it has events that the primary doesn't have"
        elif lag_s > LAG_MAX_S:
            reason = "it is too far behind"
        return _Watched(epoch, reason)

    def _lacking_s(self, position: int) -> float:
        """Return for how long the replica has been seen to lack an event.

        While the log is ahead of the clock, its events have no age.
        """
        now, lacking = time.monotonic(), self._lacking
        while lacking and lacking[0][0] <= position:
            lacking.popleft()
        # Of a replica that is too far behind, later positions say nothing more.
        if self._head > position and (not lacking or now - lacking[0][1] <= LAG_MAX_S):
            lacking.append((self._head, now))
        return now - lacking[0][1] if lacking else 0.0

    def _stop_asking(self, reason: str) -> None:
        self._found(_Watched(None, reason))
        # Reads under way would wait for a server that is frozen.
        for connection in tuple(self._lent):
            shut_down_socket(connection)

    def _found(self, found: _Watched) -> None:
        before, self._watched = self._watched, found
        if before.reason is None and found.reason is not None:
            logger.warning("no reads go to the read replica: %s", found.reason)
        elif before.reason is not None and found.reason is None:
            logger.info("the read replica is asked")
        USABLE.labels(self._address).set(found.reason is None)


def _address(conninfo: str) -> str:
    parameters = conninfo_to_dict(conninfo)
    return f"{parameters.get('host', '')}:{parameters.get('port', '')}".rstrip(":")


class ReadServers(NamedTuple):
    """The servers of a process's reads; ``replica`` is None where there is none."""

    primary: ReadServer
    replica: ReadReplica | None = None


@asynccontextmanager
async def read_servers(
    primary: Pool,
    primary_conninfo: str,
    replica_url: str | None,
    history: Callable[[], History],
    waits: Waits,
) -> AsyncIterator[ReadServers]:
    """Yield the servers of reads, and watch the replica if there is one.

    :raises WrongSessionError: its connections have another role or other settings
    """
    if replica_url is None:
        yield ReadServers(ReadServer(primary))
        return
    conninfo = service_conninfo(replica_url, **time_limits(waits))
    await require_right_session(conninfo)
    replica = ReadReplica(conninfo, primary_conninfo, history, waits)
    async with replica.watching():
        yield ReadServers(ReadServer(primary), replica)
