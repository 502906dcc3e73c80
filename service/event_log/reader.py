"""Queries of the log's tables."""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from eventsourcing.domain import Snapshot
from eventsourcing.persistence import StoredEvent
from eventsourcing.utils import get_topic

from service.aggregate import LoggedAggregate
from service.database import Db
from service.event_log.append import Receipt
from service.event_log.mapper import (
    EventMapper,
    RecordedEvent,
    UnreadableEventError,
)
from service.pacing import Pace

HEAD = "SELECT position, epoch FROM events.head"
TAIL = """
    SELECT h.position, h.epoch, events.server(), last.command_id, seen.command_id
      FROM events.head h
      LEFT JOIN events.stored_event last ON last.notification_id = h.position
      LEFT JOIN events.stored_event seen ON seen.notification_id = %s
"""
RECEIPT = "SELECT key, request, answer, position FROM events.receipt WHERE key = %b"
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
# Of several aggregates; as many as fit into CHUNK_BYTES.
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
STORED_BETWEEN = """
    SELECT originator_id, originator_version, topic, state
      FROM events.stored_event
     WHERE notification_id > %s AND notification_id <= %s
     ORDER BY notification_id
"""
EVENTS = """
    SELECT originator_id, originator_version, topic, state,
           notification_id, recorded_at, metadata::text, command_id
      FROM events.stored_event
     WHERE notification_id > %(after)s AND notification_id <= %(upto)s
       AND (%(topics)s::text[] IS NULL OR topic = ANY (%(topics)s::text[]))
     ORDER BY notification_id
     LIMIT %(limit)s
"""
# Versions ascend with positions, so this stops at the first row that is early enough.
VERSION_AT = """
    SELECT originator_version
      FROM events.stored_event
     WHERE originator_id = %(id)s AND notification_id <= %(position)s
     ORDER BY originator_version DESC
     LIMIT 1
"""
POSITION_AT = "SELECT events.position_at(%s)"
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
# The last of the next events, as many as fit into a number of bytes, but at least one;
# and whether there are others.
LAST_OF_CHUNK = """
    SELECT max(position) FILTER (WHERE bytes_before < %(bytes)s),
           count(*) = %(limit)s OR bool_or(bytes_before >= %(bytes)s)
      FROM (SELECT notification_id AS position,
                   sum(octet_length(state)) OVER (ORDER BY notification_id)
                   - octet_length(state) AS bytes_before
              FROM events.stored_event
             WHERE notification_id > %(after)s AND notification_id <= %(upto)s
               AND (%(topics)s::text[] IS NULL OR topic = ANY (%(topics)s::text[]))
             ORDER BY notification_id
             LIMIT %(limit)s) AS chunk
"""
VERSION_MAX = 2**62
# Fetching more at once would hold the event loop, and the memory.
CHUNK_BYTES = 2 * 1024 * 1024
CHUNK_EVENTS = 1000
SMALL_EVENTS = 10


class Tail(NamedTuple):
    """The end of the log, and the commands of its last event and of one seen before.

    A command is None where there is no such event.
    """

    position: int
    epoch: UUID
    server: str
    command_id: UUID | None
    seen_command_id: UUID | None


logger = logging.getLogger(__name__)


async def head(connection: Db) -> tuple[int, UUID]:
    """Return (position, epoch) of the end of the log."""
    row = await (await connection.execute(HEAD)).fetchone()
    assert row is not None
    return row[0], row[1]


async def tail(connection: Db, seen: int) -> Tail:
    cursor = await connection.execute(TAIL, [seen])
    row = await cursor.fetchone()
    assert row is not None
    return Tail(*row)


async def receipt(connection: Db, key: bytes) -> Receipt | None:
    row = await (await connection.execute(RECEIPT, [key])).fetchone()
    if row is None:
        return None
    return Receipt(key=row[0], request=row[1], answer=row[2], position=row[3])


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
        )
        chunk = [_stored(row) for row in await cursor.fetchall()]
        for stored in chunk:
            event = mapper.to_domain_event(stored)
            aggregate = event.mutate(aggregate)
            version = stored.originator_version
            await pace.pause()
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
        EVENTS_OF_SMALL, [small, CHUNK_BYTES], prepare=True
    )
    found: dict[UUID, LoggedAggregate] = {}
    pace = Pace()
    for row in await cursor.fetchall():
        found[row[0]] = mapper.to_domain_event(_stored(row)).mutate(found.get(row[0]))
        await pace.pause()
    return {
        each: aggregate
        for each, aggregate in found.items()
        if aggregate.version >= versions[each]
    }


def is_last_chunk(sizes: Sequence[int]) -> bool:
    """Say whether a chunk with events of these sizes was not cut."""
    return len(sizes) < CHUNK_EVENTS and sum(sizes) < CHUNK_BYTES


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


async def stored_between(connection: Db, after: int, upto: int) -> list[StoredEvent]:
    """Return all events at ``after < p <= upto``, in order, not decoded."""
    cursor = await connection.execute(STORED_BETWEEN, [after, upto], binary=True)
    return [_stored(row) for row in await cursor.fetchall()]


async def version_at(connection: Db, aggregate_id: UUID, position: int) -> int | None:
    """Return an aggregate's version as of a position; None when it didn't exist."""
    cursor = await connection.execute(
        VERSION_AT, {"id": aggregate_id, "position": position}
    )
    row = await cursor.fetchone()
    return row[0] if row else None


async def position_at(connection: Db, at: datetime) -> int:
    """Return the last position recorded at or before a time; 0 when there is none."""
    row = await (await connection.execute(POSITION_AT, [at])).fetchone()
    assert row is not None
    position: int = row[0]
    return position


async def events(
    connection: Db,
    mapper: EventMapper,
    *,
    after: int,
    upto: int,
    limit: int,
    topics: Sequence[str] | None = None,
) -> list[RecordedEvent]:
    """Return events in the order of their positions, ``after < p <= upto``.

    :raises UnreadableEventError: one of them can't be decoded
    """
    cursor = await connection.execute(
        EVENTS,
        {
            "after": after,
            "upto": upto,
            "limit": limit,
            "topics": list(topics) if topics is not None else None,
        },
        binary=True,
    )
    found = []
    pace = Pace()
    for row in await cursor.fetchall():
        found.append(
            RecordedEvent(
                position=row[4],
                recorded_at=row[5],
                topic=row[2],
                event=_decoded(mapper, row),
                # Three times as fast as the driver's own JSON.
                metadata=orjson.loads(row[6]),
                command_id=row[7],
            )
        )
        await pace.pause()
    return found


async def last_of_chunk(
    connection: Db, *, after: int, upto: int, topics: Sequence[str] | None
) -> int:
    """Return up to which position events fit into ``CHUNK_BYTES``; at least one does.

    Counts only events of some topics; ``upto`` where all of them fit.
    """
    cursor = await connection.execute(
        LAST_OF_CHUNK,
        {
            "after": after,
            "upto": upto,
            "topics": list(topics) if topics is not None else None,
            "limit": CHUNK_EVENTS,
            "bytes": CHUNK_BYTES,
        },
    )
    row = await cursor.fetchone()
    assert row is not None
    last, is_cut = row
    return last if is_cut else upto


def _decoded(mapper: EventMapper, row: Sequence[Any]) -> Any:
    try:
        return mapper.to_domain_event(_stored(row))
    except Exception as error:
        raise UnreadableEventError(row[4], row[2]) from error


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


def _stored(row: Sequence[Any]) -> StoredEvent:
    return StoredEvent(
        originator_id=row[0],
        originator_version=row[1],
        topic=row[2],
        state=bytes(row[3]),
    )
