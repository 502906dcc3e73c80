"""Which prompt of its session a log event belongs to, if only their times tell.

Events of a session may come in several requests, also to several processes: a prompt is
kept for those that come later.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final
from uuid import UUID

from service.database import Pool
from service.pacing import computed
from service.sessions.otlp.conventions import SpanError, reported_span
from service.sessions.otlp.logs.events import AgentEvent, in_own_turns

# Longer than any turn takes.
KEPT_FOR: Final = timedelta(days=1)
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
FORGET_ROWS_MAX: Final = 10_000
FORGET: Final = """
    DELETE FROM events.reported_prompt
     WHERE ctid = ANY (ARRAY(SELECT ctid
                               FROM events.reported_prompt
                              WHERE kept_at < clock_timestamp() - %(kept_for)s
                              ORDER BY kept_at
                              LIMIT %(rows)s))
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
    asked = [event for event in by_time if event.trace_id is None]
    async with pool.connection() as db:
        if prompts:
            await db.execute(
                KEEP,
                {
                    "agent": agent_id,
                    "sessions": [prompt.session for prompt in prompts],
                    "times": [prompt.time for prompt in prompts],
                    "traces": [prompt.trace_id for prompt in prompts],
                },
            )
        cursor = await db.execute(
            FIND,
            {
                "agent": agent_id,
                "sessions": [event.session for event in asked],
                "times": [event.time for event in asked],
            },
        )
        found = {
            id(event): trace_id
            for event, (trace_id,) in zip(asked, await cursor.fetchall(), strict=True)
        }
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


async def delete_old_prompts(pool: Pool, *, kept_for: timedelta = KEPT_FOR) -> None:
    """Delete up to ``FORGET_ROWS_MAX`` prompts that were kept for long enough."""
    async with pool.connection() as db:
        await db.execute(FORGET, {"kept_for": kept_for, "rows": FORGET_ROWS_MAX})
