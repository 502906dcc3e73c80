"""The events of one aggregate, each with its author and time."""

import heapq
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from eventsourcing.persistence import StoredEvent
from typing_extensions import TypedDict

from service.database import Db
from service.event_log.mapper import EventMapper
from service.event_log.reader import CHUNK_BYTES, CHUNK_EVENTS, is_last_chunk
from service.pacing import Pace

# By the primary key: versions ascend with positions. As many as fit into a number of
# bytes, but at least one.
EVENTS = """
    SELECT originator_version, topic, state, notification_id, recorded_at, actor
      FROM (SELECT originator_version, topic, state, notification_id, recorded_at,
                   metadata->>'actor' AS actor,
                   sum(octet_length(state)) OVER (ORDER BY originator_version)
                   - octet_length(state) AS bytes_before
              FROM events.stored_event
             WHERE originator_id = %(id)s AND originator_version > %(after)s
               AND notification_id <= %(upto)s
             ORDER BY originator_version
             LIMIT %(limit)s) AS chunk
     WHERE bytes_before < %(bytes)s
     ORDER BY originator_version
"""


class Origin(TypedDict):
    """The event that caused something, its author and its time.

    ``actor`` is a user's id, or ``system``.
    """

    position: int
    recorded_at: datetime
    kind: str
    actor: str | None


@dataclass(frozen=True, slots=True)
class AuthoredEvent:
    """``size`` is that of the stored event in bytes."""

    event: Any
    origin: Origin
    size: int

    @property
    def position(self) -> int:
        return self.origin["position"]


async def events_of(
    db: Db, mapper: EventMapper, aggregate_id: UUID, *, upto: int
) -> AsyncIterator[AuthoredEvent]:
    """Yield an aggregate's events up to a position, in order."""
    version = 0
    pace = Pace()
    while True:
        cursor = await db.execute(
            EVENTS,
            {
                "id": aggregate_id,
                "after": version,
                "upto": upto,
                "limit": CHUNK_EVENTS,
                "bytes": CHUNK_BYTES,
            },
            binary=True,
        )
        rows = await cursor.fetchall()
        for version, topic, state, position, recorded_at, actor in rows:
            stored = StoredEvent(aggregate_id, version, topic, bytes(state))
            await pace.pause(len(stored.state))
            yield AuthoredEvent(
                mapper.to_domain_event(stored),
                Origin(
                    position=position, recorded_at=recorded_at, kind=topic, actor=actor
                ),
                len(state),
            )
        if is_last_chunk([len(row[2]) for row in rows]):
            return


async def merged(
    *streams: AsyncIterator[AuthoredEvent],
) -> AsyncIterator[AuthoredEvent]:
    """Yield the events of several aggregates in the order of their positions."""
    ahead: list[tuple[int, int, AuthoredEvent]] = []
    for number, stream in enumerate(streams):
        async for authored in stream:
            ahead.append((authored.position, number, authored))
            break
    heapq.heapify(ahead)
    while ahead:
        _, number, authored = ahead[0]
        yield authored
        async for following in streams[number]:
            heapq.heapreplace(ahead, (following.position, number, following))
            break
        else:
            heapq.heappop(ahead)


async def in_chunks(
    events: AsyncIterator[AuthoredEvent],
) -> AsyncIterator[Sequence[AuthoredEvent]]:
    """Yield events as many at a time as fit into some megabytes, but at least one."""
    chunk: list[AuthoredEvent] = []
    size = 0
    async for authored in events:
        chunk.append(authored)
        size += authored.size
        if size >= CHUNK_BYTES or len(chunk) == CHUNK_EVENTS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
