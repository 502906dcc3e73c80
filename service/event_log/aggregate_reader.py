"""Queries that load aggregates: from their events, or from a snapshot and the rest."""

import logging
from collections.abc import Mapping, Sequence
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

SNAPSHOT = """
    SELECT s.originator_id, s.originator_version, s.topic, s.state, s.class_version
      FROM events.snapshot s
      JOIN events.stored_event e USING (originator_id, originator_version, command_id)
     WHERE s.originator_id = %b
"""
# As many as fit into CHUNK_BYTES, but at least one.
AGGREGATE_EVENTS = """
    SELECT originator_id, originator_version, topic, state
      FROM (SELECT originator_id, originator_version, topic, state,
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
# Versions ascend with positions, so this stops at the first row that is early enough.
VERSION_AT = """
    SELECT originator_version
      FROM events.stored_event
     WHERE originator_id = %(id)s AND notification_id <= %(position)s
     ORDER BY originator_version DESC
     LIMIT 1
"""
STORE_SNAPSHOT = """
    INSERT INTO events.snapshot AS kept (
           originator_id, originator_version, class_version, topic, state, command_id)
    SELECT given.*, e.command_id
      FROM (VALUES (%s::uuid, %s::bigint, %s::int, %s, %s::bytea))
           AS given (originator_id, originator_version, class_version, topic, state)
      JOIN events.stored_event e USING (originator_id, originator_version)
    ON CONFLICT (originator_id) DO UPDATE
       SET originator_version = excluded.originator_version,
           class_version = excluded.class_version,
           topic = excluded.topic,
           state = excluded.state,
           command_id = excluded.command_id
     WHERE kept.originator_version < excluded.originator_version
        OR kept.class_version <> excluded.class_version
        OR NOT EXISTS (
           SELECT FROM events.stored_event
            WHERE originator_id = kept.originator_id
              AND originator_version = kept.originator_version
              AND command_id = kept.command_id)
"""
VERSION_MAX = 2**62
SMALL_EVENTS = 10

logger = logging.getLogger(__name__)


async def load(
    connection: Db,
    mapper: EventMapper,
    aggregate_id: UUID,
    *,
    upto: int = VERSION_MAX,
) -> tuple[LoggedAggregate | None, int]:
    """Return an aggregate at a version, and how many events were replayed."""
    aggregate = None
    if upto == VERSION_MAX:
        aggregate = await _from_snapshot(connection, mapper, aggregate_id)
    version = aggregate.version if aggregate else 0
    replayed = 0
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
        chunk = [stored_event(row) for row in await cursor.fetchall()]
        for stored in chunk:
            await pace.pause(len(stored.state))
            event = mapper.to_domain_event(stored)
            aggregate = event.mutate(aggregate)
            version = stored.originator_version
        replayed += len(chunk)
        if is_last_chunk([len(stored.state) for stored in chunk]):
            return aggregate, replayed


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
    connection: Db, mapper: EventMapper, aggregate_id: UUID
) -> LoggedAggregate | None:
    cursor = await connection.execute(SNAPSHOT, [aggregate_id], prepare=True)
    row = await cursor.fetchone()
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
        # The aggregate is replayed from its events instead.
        logger.exception("can't read a snapshot", extra={"aggregate": str(row[0])})
        return None
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
        VERSION_AT, {"id": aggregate_id, "position": position}
    )
    row = await cursor.fetchone()
    return row[0] if row else None


async def store_snapshot(
    connection: Db,
    stored: StoredEvent,
    aggregate: type[LoggedAggregate],
) -> None:
    await connection.execute(
        STORE_SNAPSHOT,
        [
            stored.originator_id,
            stored.originator_version,
            aggregate.class_version,
            get_topic(aggregate),
            stored.state,
        ],
    )
