"""Snapshots of long aggregates: the newest, and others on the way to it."""

import asyncio
import logging
from uuid import UUID

import psycopg
from eventsourcing.domain import Snapshot
from eventsourcing.persistence import StoredEvent
from eventsourcing.utils import get_topic

from service.aggregate import LoggedAggregate
from service.database import Db, Pool
from service.event_log import aggregate_reader
from service.event_log.aggregate_reader import VERSION_MAX, Loaded
from service.event_log.mapper import EventMapper

SNAPSHOT_INTERVAL = 100
SNAPSHOTS_AT_ONCE_MAX = 4
# Bytes of events for each byte of a snapshot that isn't the newest.
PRICE = 4

# One process at a time decides which snapshots of an aggregate stay.
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('snapshot ' || %(id)s::uuid, 0))"
# Nobody reads these.
DELETE_INVALID = """
    DELETE FROM events.snapshot s
     WHERE originator_id = %(id)s
       AND ((topic, class_version) <> (%(topic)s, %(class_version)s)
            OR command_id IS DISTINCT FROM (
               SELECT e.command_id
                 FROM events.stored_event e
                WHERE e.originator_id = s.originator_id
                  AND e.originator_version = s.originator_version))
"""
# Not if the log has another event there than the one that made this state.
STORE = """
    INSERT INTO events.snapshot (
           originator_id, originator_version, class_version, topic, state, command_id)
    SELECT originator_id, originator_version, %(class_version)s, %(topic)s, %(state)s,
           command_id
      FROM events.stored_event
     WHERE originator_id = %(id)s AND originator_version = %(version)s
       AND command_id = %(command_id)s
    ON CONFLICT (originator_id, originator_version) DO UPDATE
       SET state = excluded.state
"""
# The newest snapshot always stays; another one, if the events since the one before it
# pay for it. The one to judge is that just stored, or if it is the newest, the one that
# was. It also goes if the next one couldn't stay beside it.
DELETE_UNPAID = """
    WITH on_the_way AS (
         SELECT originator_version AS version,
                octet_length(state) AS bytes,
                lag(originator_version, 1, 0::bigint) OVER ascending AS version_before,
                lead(originator_version) OVER ascending AS version_after
           FROM events.snapshot
          WHERE originator_id = %(id)s
         WINDOW ascending AS (ORDER BY originator_version)),
    judged AS (
         SELECT version, version_after
           FROM on_the_way
          WHERE version <= %(version)s AND version_after IS NOT NULL
          ORDER BY version DESC
          LIMIT 1)
    DELETE FROM events.snapshot s
     USING judged
     WHERE s.originator_id = %(id)s AND s.originator_version = judged.version
       AND EXISTS (
           SELECT FROM on_the_way w
            WHERE w.version_after IS NOT NULL
              -- Otherwise PostgreSQL adds up all events of the aggregate.
              AND CASE WHEN w.version IN (judged.version, judged.version_after)
                  THEN %(price)s * w.bytes > (
                       SELECT coalesce(sum(octet_length(e.state)), 0)
                         FROM events.stored_event e
                        WHERE e.originator_id = %(id)s
                          AND e.originator_version > w.version_before
                          AND e.originator_version <= w.version)
                  END)
"""

logger = logging.getLogger(__name__)


class Snapshots:
    """Loads aggregates by way of snapshots, and stores these in the background."""

    def __init__(self, pool: Pool, mapper: EventMapper) -> None:
        self._pool = pool
        self._mapper = mapper
        self._tasks: set[asyncio.Task[None]] = set()
        self._fails = False

    async def stop(self) -> None:
        """Wait for those that are being stored."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def load(
        self, connection: Db, aggregate_id: UUID, *, upto: int = VERSION_MAX
    ) -> LoggedAggregate | None:
        """Return an aggregate at a version; leave a snapshot if none was near.

        ``connection`` may be to a read replica: the primary gets the snapshot.
        """
        loaded = await aggregate_reader.load(
            connection, self._mapper, aggregate_id, upto=upto
        )
        self.leave(loaded, is_newest=upto == VERSION_MAX)
        return loaded.aggregate

    def leave(self, loaded: Loaded, *, is_newest: bool) -> None:
        """Take a snapshot of an aggregate that was replayed from far."""
        aggregate, replayed, bytes_replayed, command_id = loaded
        if aggregate and command_id and replayed >= SNAPSHOT_INTERVAL:
            self.take(aggregate, command_id, paid=None if is_newest else bytes_replayed)

    def take(
        self, aggregate: LoggedAggregate, command_id: UUID, *, paid: int | None = None
    ) -> None:
        """Store a snapshot in the background, unless many are being stored.

        ``command_id`` is that of the aggregate's last event. ``paid`` are the bytes of
        the events since the snapshot before; None for the newest state.
        """
        if len(self._tasks) >= SNAPSHOTS_AT_ONCE_MAX:
            return
        stored = self._mapper.to_stored_event(Snapshot.take(aggregate))
        # Otherwise each read would store and delete one.
        if paid is not None and paid < PRICE * len(stored.state):
            return
        task = asyncio.create_task(self._store(stored, type(aggregate), command_id))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _store(
        self, stored: StoredEvent, kind: type[LoggedAggregate], command_id: UUID
    ) -> None:
        # Without the snapshot, the next load replays more events.
        try:
            async with self._pool.connection() as connection:
                await store_snapshot(connection, stored, kind, command_id)
        except (psycopg.Error, OSError):
            # Reads go on while the primary is away; one line says so.
            if not self._fails:
                logger.warning("can't store a snapshot")
            self._fails = True
        else:
            self._fails = False


async def store_snapshot(
    connection: Db,
    stored: StoredEvent,
    kind: type[LoggedAggregate],
    command_id: UUID,
) -> None:
    """Store a snapshot, and delete those that it leaves without use."""
    given = {
        "id": stored.originator_id,
        "version": stored.originator_version,
        "class_version": kind.class_version,
        "topic": get_topic(kind),
        "state": stored.state,
        "command_id": command_id,
        "price": PRICE,
    }
    async with connection.transaction():
        for statement in (LOCK, DELETE_INVALID, STORE, DELETE_UNPAID):
            await connection.execute(statement, given)


def is_snapshot_due(version_before: int, version: int) -> bool:
    """Say whether a command's events of one aggregate complete a hundred."""
    return version // SNAPSHOT_INTERVAL > version_before // SNAPSHOT_INTERVAL
