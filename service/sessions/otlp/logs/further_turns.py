"""Events whose trace takes no more of them begin a further turn.

A turn lasts as long as a person lets it wait, or an agent works on it; the spans of a
trace are deleted some time after the last one, and are bounded in number.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from service.database import Pool
from service.event_log.log import EventLog
from service.pacing import Pace, computed
from service.sessions.aggregate import ChatSession
from service.sessions.otlp.logs.batches import batches
from service.sessions.otlp.logs.events import AgentEvent, further_turn
from service.sessions.otlp.pending import SPANS_OF_TRACE_MAX, TRACE_BYTES_MAX

# Those without room for events that no span tells: where spans come, too, one of them
# may have told what an event does. And those whose turn was recorded before the first
# of the spans that are kept now, so that others of it have been deleted.
CLOSED: Final = """
    SELECT given.number,
           (convert_from(turn.state, 'UTF8')::json->>'ended_at')::timestamptz
      FROM unnest(%(traces)b::text[], %(counts)b::int[], %(sessions)b::uuid[],
                  %(versions)b::bigint[])
           WITH ORDINALITY AS given (trace_id, count, session, version, number)
      LEFT JOIN events.reported_trace found
             ON found.agent_id = %(agent)s AND found.trace_id = given.trace_id
      LEFT JOIN events.stored_event turn
             ON turn.originator_id = given.session
            AND turn.originator_version = given.version
     WHERE (given.count > 0
            AND (found.span_count + given.count > %(spans_max)s
                 OR pg_column_size(found.spans) + found.part_bytes > %(bytes_max)s))
        OR (found.trace_id IS NULL AND turn.notification_id IS NOT NULL)
        OR turn.notification_id <= found.kept_since
"""


@dataclass(slots=True)
class _Wanted:
    """A trace that events belong to, their sessions, and where they go.

    ``count`` is the number of those that no span tells. Spans may have told those that
    aren't after ``ended_at``, where its turn ended when it was last recorded.
    """

    goes_to: bytes
    count: int = 0
    sessions: set[UUID] = field(default_factory=set)
    ended_at: datetime | None = None


async def in_open_traces(
    log: EventLog, pool: Pool, agent_id: UUID, events: Sequence[AgentEvent]
) -> list[AgentEvent]:
    """Return an agent's events, in their traces, or further ones that take them."""
    wanted = await computed(len(events), _wanted, events)
    absent = await log.preload(
        set().union(*(each.sessions for each in wanted.values()))
    )
    left = list(wanted.values())
    while left:
        closed: list[_Wanted] = []
        for some in batches(left):
            closed += await _closed(some, log, pool, agent_id, absent)
        for each in closed:
            each.goes_to = further_turn(each.goes_to)
        left = closed
    return await computed(len(events), _placed, events, wanted)


def _wanted(events: Iterable[AgentEvent]) -> dict[bytes | None, _Wanted]:
    found: dict[bytes | None, _Wanted] = {}
    for event in events:
        assert event.trace_id is not None
        each = found.setdefault(event.trace_id, _Wanted(event.trace_id))
        if not event.in_trace:
            each.count += 1
        if event.session_id:
            each.sessions.add(ChatSession.create_id(event.session_id))
    return found


async def _closed(
    wanted: Sequence[_Wanted],
    log: EventLog,
    pool: Pool,
    agent_id: UUID,
    absent: set[UUID],
) -> list[_Wanted]:
    """Return those whose trace takes no more events."""
    recorded = []
    pace = Pace()
    for each in wanted:
        await pace.pause()
        recorded.append(await _recorded(each, log, agent_id, absent))
    async with pool.connection() as db:
        cursor = await db.execute(
            CLOSED,
            {
                "agent": agent_id,
                "traces": [each.goes_to.hex() for each in wanted],
                "counts": [each.count for each in wanted],
                "sessions": [session for session, _ in recorded],
                "versions": [version for _, version in recorded],
                "spans_max": SPANS_OF_TRACE_MAX,
                "bytes_max": TRACE_BYTES_MAX,
            },
        )
        rows = await cursor.fetchall()
    closed = []
    for number, ended_at in rows:
        each = wanted[number - 1]
        each.ended_at = each.ended_at or ended_at
        closed.append(each)
    return closed


async def _recorded(
    wanted: _Wanted, log: EventLog, agent_id: UUID, absent: set[UUID]
) -> tuple[UUID, int] | tuple[None, None]:
    """Return the session that has a trace's turn, and its version that last told it."""
    for session_id in wanted.sessions - absent:
        session = await log.load(session_id)
        if isinstance(session, ChatSession) and session.agent_id == str(agent_id):
            known = session.from_spans(wanted.goes_to.hex())
            if known is not None:
                return session_id, known.version
    return None, None


def _placed(
    events: Iterable[AgentEvent], wanted: Mapping[bytes | None, _Wanted]
) -> list[AgentEvent]:
    placed = []
    for event in events:
        each = wanted[event.trace_id]
        is_told = (
            event.in_trace and each.ended_at is not None and event.time <= each.ended_at
        )
        placed.append(event if is_told else event.in_turn(each.goes_to))
    return placed
