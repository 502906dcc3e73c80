"""Events whose trace takes no more of them begin a further turn.

A turn lasts as long as a person lets it wait, or an agent works on it; the spans of a
trace are deleted some time after the last one, and are bounded in number.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from service.database import Pool
from service.event_log.log import EventLog
from service.pacing import Pace, computed
from service.sessions.aggregate import ChatSession
from service.sessions.otlp.logs.batches import batches
from service.sessions.otlp.logs.events import AgentEvent, further_turn
from service.sessions.otlp.pending import SPANS_OF_TRACE_MAX, TRACE_BYTES_MAX

# Those without room, and those whose turn was recorded before the first of the spans
# that are kept now, so that others of it have been deleted.
CLOSED: Final = """
    SELECT given.number
      FROM unnest(%(traces)b::text[], %(counts)b::int[], %(sessions)b::uuid[],
                  %(versions)b::bigint[])
           WITH ORDINALITY AS given (trace_id, count, session, version, number)
      LEFT JOIN events.reported_trace found
             ON found.agent_id = %(agent)s AND found.trace_id = given.trace_id
      LEFT JOIN events.stored_event turn
             ON turn.originator_id = given.session
            AND turn.originator_version = given.version
     WHERE found.span_count + given.count > %(spans_max)s
        OR pg_column_size(found.spans) + found.part_bytes > %(bytes_max)s
        OR (found.trace_id IS NULL AND turn.notification_id IS NOT NULL)
        OR turn.notification_id <= found.kept_since
"""


@dataclass(slots=True)
class _Wanted:
    """A trace that events belong to, their number and session, and where they go."""

    goes_to: bytes
    events: int = 0
    session: UUID | None = None


async def in_open_traces(
    log: EventLog, pool: Pool, agent_id: UUID, events: Sequence[AgentEvent]
) -> list[AgentEvent]:
    """Return an agent's events, in their traces, or further ones that take them."""
    wanted = await computed(len(events), _wanted, events)
    sessions = {each.session for each in wanted.values() if each.session is not None}
    absent = await log.preload(sessions)
    left = list(wanted.values())
    while left:
        closed = []
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
        each.events += 1
        if each.session is None and event.session_id:
            each.session = ChatSession.create_id(event.session_id)
    return found


async def _closed(
    wanted: Sequence[_Wanted],
    log: EventLog,
    pool: Pool,
    agent_id: UUID,
    absent: set[UUID],
) -> list[_Wanted]:
    """Return those whose trace takes no more events."""
    versions = []
    pace = Pace()
    for each in wanted:
        await pace.pause()
        versions.append(await _version(each, log, agent_id, absent))
    async with pool.connection() as db:
        cursor = await db.execute(
            CLOSED,
            {
                "agent": agent_id,
                "traces": [each.goes_to.hex() for each in wanted],
                "counts": [each.events for each in wanted],
                "sessions": [each.session for each in wanted],
                "versions": versions,
                "spans_max": SPANS_OF_TRACE_MAX,
                "bytes_max": TRACE_BYTES_MAX,
            },
        )
        return [wanted[number - 1] for (number,) in await cursor.fetchall()]


async def _version(
    wanted: _Wanted, log: EventLog, agent_id: UUID, absent: set[UUID]
) -> int | None:
    """Return at which version of its session a trace was last recorded as a turn."""
    if wanted.session is None or wanted.session in absent:
        return None
    session = await log.load(wanted.session)
    if not isinstance(session, ChatSession) or session.agent_id != str(agent_id):
        return None
    known = session.from_spans(wanted.goes_to.hex())
    return None if known is None else known.version


def _placed(
    events: Iterable[AgentEvent], wanted: Mapping[bytes | None, _Wanted]
) -> list[AgentEvent]:
    return [event.in_turn(wanted[event.trace_id].goes_to) for event in events]
