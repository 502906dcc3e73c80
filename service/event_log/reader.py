"""Queries of the log: its end, its events by position, and kept answers."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from eventsourcing.persistence import StoredEvent

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
    SELECT h.position, h.epoch, events.server(), h.server,
           last.command_id, seen.command_id
      FROM events.head h
      LEFT JOIN events.stored_event last ON last.notification_id = h.position
      LEFT JOIN events.stored_event seen ON seen.notification_id = %s
"""
RECEIPT = """
    SELECT key, request, answer, position FROM events.valid_receipt WHERE key = %b
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
POSITION_AT = "SELECT events.position_at(%s)"
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
BYTES = """
    SELECT coalesce(sum(octet_length(state)), 0)
      FROM (SELECT state
              FROM events.stored_event
             WHERE notification_id > %(after)s AND notification_id <= %(upto)s
               AND (%(topics)s::text[] IS NULL OR topic = ANY (%(topics)s::text[]))
             ORDER BY notification_id
             LIMIT %(limit)s) AS batch
"""
# Fetching more at once would hold the event loop, and the memory.
CHUNK_BYTES = 2 * 1024 * 1024
CHUNK_EVENTS = 1000
# So few may have any size: nobody looks.
UNSIZED_EVENTS = 8


class LogEnd(NamedTuple):
    """The end of the log, and the commands of its last event and of one seen before.

    A command is None where there is no such event. ``recorded_server`` is the one that
    the log says it is on, of which a recovered log knows nothing.
    """

    position: int
    epoch: UUID
    server: str
    recorded_server: str | None
    command_id: UUID | None
    seen_command_id: UUID | None


async def head(connection: Db) -> tuple[int, UUID]:
    """Return (position, epoch) of the end of the log."""
    row = await (await connection.execute(HEAD)).fetchone()
    assert row is not None
    return row[0], row[1]


async def tail(connection: Db, seen: int) -> LogEnd:
    cursor = await connection.execute(TAIL, [seen])
    row = await cursor.fetchone()
    assert row is not None
    return LogEnd(*row)


async def receipt(connection: Db, key: bytes) -> Receipt | None:
    row = await (await connection.execute(RECEIPT, [key])).fetchone()
    if row is None:
        return None
    return Receipt(key=row[0], request=row[1], answer=row[2], position=row[3])


def is_last_chunk(sizes: Sequence[int]) -> bool:
    """Say whether a chunk with events of these sizes was not cut."""
    return len(sizes) < CHUNK_EVENTS and sum(sizes) < CHUNK_BYTES


async def stored_between(connection: Db, after: int, upto: int) -> list[StoredEvent]:
    """Return all events at ``after < p <= upto``, in order, not decoded."""
    cursor = await connection.execute(STORED_BETWEEN, [after, upto], binary=True)
    return [stored_event(row) for row in await cursor.fetchall()]


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
        await pace.pause(len(row[3]))
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
    return found


async def last_of_chunk(
    connection: Db,
    *,
    after: int,
    upto: int,
    topics: Sequence[str] | None = None,
    events_max: int = CHUNK_EVENTS,
    bytes_max: int = CHUNK_BYTES,
) -> int:
    """Return up to which position events fit into ``bytes_max``; at least one does.

    Counts only events of some topics; ``upto`` where all of them fit.
    """
    if upto - after <= UNSIZED_EVENTS:
        return upto
    cursor = await connection.execute(
        LAST_OF_CHUNK,
        {
            "after": after,
            "upto": upto,
            "topics": list(topics) if topics is not None else None,
            "limit": events_max,
            "bytes": bytes_max,
        },
    )
    row = await cursor.fetchone()
    assert row is not None
    last, is_cut = row
    return last if is_cut else upto


async def bytes_of(
    connection: Db,
    *,
    after: int,
    upto: int,
    limit: int,
    topics: Sequence[str] | None = None,
) -> int:
    """Return how large the first events are that :func:`events` would return.

    Takes a third of the time of :func:`last_of_chunk`.
    """
    cursor = await connection.execute(
        BYTES,
        {
            "after": after,
            "upto": upto,
            "limit": limit,
            "topics": list(topics) if topics is not None else None,
        },
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


def _decoded(mapper: EventMapper, row: Sequence[Any]) -> Any:
    try:
        return mapper.to_domain_event(stored_event(row))
    except Exception as error:
        raise UnreadableEventError(row[4], row[2]) from error


def stored_event(row: Sequence[Any]) -> StoredEvent:
    """Return the event of a row that begins with id, version, topic and state."""
    return StoredEvent(
        originator_id=row[0],
        originator_version=row[1],
        topic=row[2],
        state=bytes(row[3]),
    )
