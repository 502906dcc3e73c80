"""Queries that load aggregates: from their events, or from a snapshot and the rest."""

import logging
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from eventsourcing.domain import Snapshot
from eventsourcing.persistence import StoredEvent
from eventsourcing.utils import get_topic

from service.aggregate import LoggedAggregate
from service.database import Db
from service.event_log.mapper import EventMapper
from service.event_log.reader import (
    CHUNK_BYTES,
    CHUNK_EVENTS,
    is_last_chunk,
    stored_event,
)
from service.pacing import Pace, turn_for

# The newest that is early enough. The event is looked up for each candidate in turn: a
# join could read all events of the aggregate.
SNAPSHOT = """
    SELECT originator_id, originator_version, topic, state, class_version
      FROM events.snapshot s
     WHERE originator_id = %b AND originator_version <= %b
       AND command_id = (
           SELECT e.command_id
             FROM events.stored_event e
            WHERE e.originator_id = s.originator_id
              AND e.originator_version = s.originator_version)
     ORDER BY originator_version DESC
     LIMIT 1
"""
# As many as fit into CHUNK_BYTES, but at least one.
AGGREGATE_EVENTS = """
    SELECT originator_id, originator_version, topic, state, command_id
      FROM (SELECT originator_id, originator_version, topic, state, command_id,
                   sum(octet_length(state)) OVER (ORDER BY originator_version)
                   - octet_length(state) AS bytes_before
              FROM events.stored_event
             WHERE originator_id = %(id)s
               AND originator_version > %(after)s
               AND originator_version <= %(upto)s
             ORDER BY originator_version
             LIMIT %(limit)s) AS chunk
     WHERE bytes_before < %(bytes)s
     ORDER BY originator_version
"""
# The events of several aggregates; as many as fit into CHUNK_BYTES.
EVENTS_OF_SMALL = """
    SELECT originator_id, originator_version, topic, state
      FROM (SELECT originator_id, originator_version, topic, state,
                   sum(octet_length(state))
                   OVER (ORDER BY originator_id, originator_version) AS bytes
              FROM events.stored_event
             WHERE originator_id = ANY (%b::uuid[])) AS chunk
     WHERE bytes < %b
     ORDER BY originator_id, originator_version
"""
LATEST_VERSIONS = """
    SELECT given.id, latest.originator_version
      FROM unnest(%b::uuid[]) AS given (id)
     CROSS JOIN LATERAL (
           SELECT originator_version
             FROM events.stored_event
            WHERE originator_id = given.id
            ORDER BY originator_version DESC
            LIMIT 1) AS latest
"""
# Versions ascend with positions, so this bisects them: none up to ``low`` is too late,
# and all after ``high`` are. Where a version is missing, the one before is looked at.
VERSION_AT = """
    WITH RECURSIVE search (low, high) AS (
        (SELECT 0::bigint, originator_version
           FROM events.stored_event
          WHERE originator_id = %(id)s
          ORDER BY originator_version DESC
          LIMIT 1)
        UNION ALL
        SELECT CASE WHEN is_too_late THEN low ELSE middle END,
               CASE WHEN is_too_late THEN middle - 1 ELSE high END
          FROM (SELECT low, high, (low + high + 1) / 2 AS middle
                  FROM search
                 WHERE low < high) AS halves
          LEFT JOIN LATERAL (
               SELECT notification_id > %(position)s AS is_too_late
                 FROM events.stored_event
                WHERE originator_id = %(id)s AND originator_version <= middle
                ORDER BY originator_version DESC
                LIMIT 1) AS probe ON true)
    SELECT originator_version
      FROM events.stored_event
     WHERE originator_id = %(id)s
       AND originator_version <= (SELECT low FROM search WHERE low = high)
     ORDER BY originator_version DESC
     LIMIT 1
"""
POSITION_OF = """
    SELECT notification_id
      FROM events.stored_event
     WHERE originator_id = %s AND originator_version = %s
"""
VERSION_MAX = 2**62
SMALL_EVENTS = 10

logger = logging.getLogger(__name__)


class Loaded(NamedTuple):
    """An aggregate, and the events that were replayed.

    How many, their size in bytes, and the command of the last one.
    """

    aggregate: LoggedAggregate | None
    replayed: int
    bytes_replayed: int
    command_id: UUID | None


async def load(
    connection: Db,
    mapper: EventMapper,
    aggregate_id: UUID,
    *,
    upto: int = VERSION_MAX,
) -> Loaded:
    """Load an aggregate at a version: from the snapshot before it, and the rest."""
    aggregate = await _from_snapshot(connection, mapper, aggregate_id, upto)
    version = aggregate.version if aggregate else 0
    replayed = bytes_replayed = 0
    command_id = None
    pace = Pace()
    while True:
        cursor = await connection.execute(
            AGGREGATE_EVENTS,
            {
                "id": aggregate_id,
                "after": version,
                "upto": upto,
                "limit": CHUNK_EVENTS,
                "bytes": CHUNK_BYTES,
            },
            prepare=True,
            binary=True,
        )
        chunk = await cursor.fetchall()
        for row in chunk:
            stored = stored_event(row)
            await pace.pause(len(stored.state))
            event = mapper.to_domain_event(stored)
            aggregate = event.mutate(aggregate)
            version, command_id = stored.originator_version, row[4]
        sizes = [len(row[3]) for row in chunk]
        replayed += len(chunk)
        bytes_replayed += sum(sizes)
        if is_last_chunk(sizes):
            return Loaded(aggregate, replayed, bytes_replayed, command_id)


async def load_small(
    connection: Db, mapper: EventMapper, versions: Mapping[UUID, int]
) -> dict[UUID, LoggedAggregate]:
    """Return those of some aggregates that have few events, at their versions.

    Those that don't fit into a chunk are left out.
    """
    small = [each for each, version in versions.items() if version <= SMALL_EVENTS]
    cursor = await connection.execute(
        EVENTS_OF_SMALL, [small, CHUNK_BYTES], prepare=True, binary=True
    )
    found: dict[UUID, LoggedAggregate] = {}
    pace = Pace()
    for row in await cursor.fetchall():
        stored = stored_event(row)
        await pace.pause(len(stored.state))
        found[row[0]] = mapper.to_domain_event(stored).mutate(found.get(row[0]))
    return {
        each: aggregate
        for each, aggregate in found.items()
        if aggregate.version >= versions[each]
    }


async def _from_snapshot(
    connection: Db, mapper: EventMapper, aggregate_id: UUID, upto: int
) -> LoggedAggregate | None:
    while True:
        cursor = await connection.execute(SNAPSHOT, [aggregate_id, upto], prepare=True)
        row = await cursor.fetchone()
        # Before one of another class version there are mostly others of it.
        if row is None or mapper.class_version(row[2]) != row[4]:
            return None
        stored = StoredEvent(
            originator_id=row[0],
            originator_version=row[1],
            topic=get_topic(Snapshot),
            state=bytes(row[3]),
        )
        await turn_for(len(stored.state))
        try:
            aggregate: LoggedAggregate = mapper.to_domain_event(stored).mutate(None)
        except Exception:
            # More events are replayed instead.
            logger.exception("can't read a snapshot", extra={"aggregate": str(row[0])})
            upto = stored.originator_version - 1
        else:
            return aggregate


async def latest_versions(
    connection: Db, aggregate_ids: Sequence[UUID]
) -> dict[UUID, int]:
    """Return the current version of each aggregate that exists."""
    cursor = await connection.execute(
        LATEST_VERSIONS, [list(aggregate_ids)], prepare=True
    )
    return dict(await cursor.fetchall())


async def version_at(connection: Db, aggregate_id: UUID, position: int) -> int | None:
    """Return an aggregate's version as of a position; None when it didn't exist."""
    cursor = await connection.execute(
        VERSION_AT, {"id": aggregate_id, "position": position}, prepare=True
    )
    row = await cursor.fetchone()
    return row[0] if row else None


async def position_of(connection: Db, aggregate_id: UUID, version: int) -> int | None:
    """Return where a version was recorded; None when it wasn't."""
    cursor = await connection.execute(POSITION_OF, [aggregate_id, version])
    row = await cursor.fetchone()
    return row[0] if row else None
