"""Which prompt of its session a log event belongs to, if only their times tell.

Events of a session may come in several requests, also to several processes: a prompt is
kept for those that come later.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final
from uuid import UUID

from service.database import Pool
from service.pacing import computed
from service.sessions.otlp.conventions import SpanError, reported_span
from service.sessions.otlp.logs.batches import batches
from service.sessions.otlp.logs.events import AgentEvent, in_own_turns

KEEP: Final = """
    INSERT INTO events.reported_prompt (agent_id, session, started_at, trace_id)
    SELECT %(agent)s, *
      FROM unnest(%(sessions)b::bytea[], %(times)b::timestamptz[], %(traces)b::bytea[])
     ORDER BY 2, 3
    ON CONFLICT DO NOTHING
"""
# The newest one before each event.
FIND: Final = """
    SELECT (SELECT p.trace_id
              FROM events.reported_prompt p
             WHERE p.agent_id = %(agent)s AND p.session = given.session
               AND p.started_at <= given.at
             ORDER BY p.started_at DESC
             LIMIT 1)
      FROM unnest(%(sessions)b::bytea[], %(times)b::timestamptz[])
           WITH ORDINALITY AS given (session, at, number)
     ORDER BY number
"""


async def in_turns(
    pool: Pool, agent_id: UUID, events: Sequence[AgentEvent]
) -> list[AgentEvent]:
    """Return an agent's events, each in the trace of its turn."""
    by_time = [
        event for event in events if event.program.turn is None and event.session_id
    ]
    if not by_time:
        return await computed(len(events), in_own_turns, events)
    prompts = await computed(len(by_time), _prompts, by_time)
    for some in batches(prompts):
        async with pool.connection() as db:
            await db.execute(
                KEEP,
                {
                    "agent": agent_id,
                    "sessions": [prompt.session for prompt in some],
                    "times": [prompt.time for prompt in some],
                    "traces": [prompt.trace_id for prompt in some],
                },
            )
    found: dict[int, bytes | None] = {}
    for some in batches([event for event in by_time if event.trace_id is None]):
        async with pool.connection() as db:
            cursor = await db.execute(
                FIND,
                {
                    "agent": agent_id,
                    "sessions": [event.session for event in some],
                    "times": [event.time for event in some],
                },
            )
            rows = await cursor.fetchall()
        for event, (trace_id,) in zip(some, rows, strict=True):
            found[id(event)] = trace_id
    return await computed(len(events), _placed, events, found)


def _prompts(events: Iterable[AgentEvent]) -> list[AgentEvent]:
    """Return the prompts that can be spans: of others, nothing is kept."""
    found = []
    for event in events:
        if event.role == "prompt":
            placed = event.in_turn(event.trace_id)
            with suppress(SpanError):
                reported_span(placed.span(), event.program.scope)
                found.append(placed)
    return found


def _placed(
    events: Iterable[AgentEvent], found: Mapping[int, bytes | None]
) -> list[AgentEvent]:
    return [event.in_turn(event.trace_id or found.get(id(event))) for event in events]
