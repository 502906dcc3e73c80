"""Queries of the log's tables."""

import logging
from collections.abc import Sequence
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
AGGREGATE_EVENTS = """
    SELECT originator_id, originator_version, topic, state
      FROM events.stored_event
     WHERE originator_id = %(id)s
       AND originator_version > %(after)s
       AND originator_version <= %(upto)s
     ORDER BY originator_version
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
VERSION_MAX = 2**62


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
    cursor = await connection.execute(
        AGGREGATE_EVENTS,
        {
            "id": aggregate_id,
            "after": aggregate.version if aggregate else 0,
            "upto": upto,
        },
        prepare=True,
    )
    rows = await cursor.fetchall()
    for row in rows:
        event = mapper.to_domain_event(_stored(row))
        aggregate = event.mutate(aggregate)
    return aggregate, len(rows)


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
    return [
        RecordedEvent(
            position=row[4],
            recorded_at=row[5],
            topic=row[2],
            event=_decoded(mapper, row),
            # Three times as fast as the driver's own JSON.
            metadata=orjson.loads(row[6]),
            command_id=row[7],
        )
        for row in await cursor.fetchall()
    ]


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
