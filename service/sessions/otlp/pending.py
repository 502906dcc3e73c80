"""Traces that may still grow: ``events.reported_trace``."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import orjson
import psycopg
from prometheus_client import Counter

from service.database import Pool
from service.sessions.otlp.span import KeptSpan
from service.sessions.otlp.trace import turn_of

# How long after its last span a trace can still grow.
KEPT_FOR: Final = timedelta(hours=2)
SPANS_OF_TRACE_MAX: Final = 5_000
TRACES_OF_AGENT_MAX: Final = 500_000
FORGET_EVERY_S: Final = 60.0
FORGET_ROWS_MAX: Final = 500


# What is there stays: a span that comes twice is the same span. Rows are taken in
# order, so that two requests with the same traces don't block each other for good.
MERGE = """
    INSERT INTO events.reported_trace AS known (agent_id, trace_id, spans)
    SELECT agent_id, trace_id, spans
      FROM unnest(%(agents)b::uuid[], %(traces)b::text[], %(spans)b::jsonb[])
           AS given (agent_id, trace_id, spans)
     ORDER BY agent_id, trace_id
    ON CONFLICT (agent_id, trace_id) DO UPDATE
       SET spans = excluded.spans || known.spans, touched_at = now()
     WHERE (SELECT count(*) FROM jsonb_object_keys(known.spans)) < %(spans_max)s
    RETURNING agent_id, trace_id, spans
"""
COUNT = """
    SELECT count(*)
      FROM (SELECT FROM events.reported_trace
             WHERE agent_id = %(agent)s LIMIT %(limit)s) AS begun
"""
FORGET = """
    DELETE FROM events.reported_trace t
     USING (SELECT agent_id, trace_id FROM events.reported_trace
             WHERE touched_at < clock_timestamp() - %(kept_for)s
             ORDER BY touched_at LIMIT %(rows)s
               FOR UPDATE SKIP LOCKED) AS old
     WHERE t.agent_id = old.agent_id AND t.trace_id = old.trace_id
    RETURNING t.agent_id, t.trace_id, t.spans
"""
FORGOTTEN = Counter(
    "agent_runtime_reported_traces_forgotten_total",
    "Traces that grew no more: recorded ones, and those that never became a turn "
    "because no root or no session was reported.",
    ["was"],
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TraceKey:
    """A trace as one agent reports it; another agent's spans are not part of it."""

    agent_id: UUID
    trace_id: str


async def merge_spans(
    pool: Pool, spans: Mapping[TraceKey, Sequence[KeptSpan]]
) -> dict[TraceKey, list[KeptSpan]]:
    """Add spans to their traces, and return all that is known of these traces.

    A trace with ``SPANS_OF_TRACE_MAX`` takes no more, and is left out.
    """
    if not spans:
        return {}
    async with pool.connection() as db:
        cursor = await db.execute(
            MERGE,
            {
                "agents": [key.agent_id for key in spans],
                "traces": [key.trace_id for key in spans],
                "spans": [
                    orjson.dumps(
                        {each.span_id: each.to_json() for each in some}
                    ).decode()
                    for some in spans.values()
                ],
                "spans_max": SPANS_OF_TRACE_MAX,
            },
        )
        rows = await cursor.fetchall()
    return {
        TraceKey(agent_id, trace_id): _spans(known)
        for agent_id, trace_id, known in rows
    }


async def has_room(pool: Pool, agent_id: UUID) -> bool:
    """Say whether an agent may begin more traces."""
    async with pool.connection() as db:
        cursor = await db.execute(
            COUNT, {"agent": agent_id, "limit": TRACES_OF_AGENT_MAX}
        )
        row = await cursor.fetchone()
    assert row is not None
    return int(row[0]) < TRACES_OF_AGENT_MAX


async def keep_forgetting(pool: Pool) -> None:
    """Forget once a minute, until cancelled; any number of processes may do so."""
    while True:
        try:
            await forget_old_traces(pool)
        except (psycopg.Error, OSError) as error:
            logger.warning("can't forget old traces: %s", error)
        await asyncio.sleep(FORGET_EVERY_S)


async def forget_old_traces(pool: Pool, *, kept_for: timedelta = KEPT_FOR) -> int:
    """Delete traces that grow no more, some at a time, and return how many.

    Those that never became a turn are counted and logged: their spans are lost.
    """
    forgotten = 0
    while True:
        async with pool.connection() as db:
            cursor = await db.execute(
                FORGET, {"kept_for": kept_for, "rows": FORGET_ROWS_MAX}
            )
            rows = await cursor.fetchall()
        for agent_id, trace_id, spans in rows:
            is_turn = turn_of(trace_id, _spans(spans)) is not None
            FORGOTTEN.labels("a turn" if is_turn else "incomplete").inc()
            if not is_turn:
                logger.warning(
                    "a trace never became a turn",
                    extra={
                        "agent_id": str(agent_id),
                        "trace_id": trace_id,
                        "spans": len(spans),
                    },
                )
        forgotten += len(rows)
        if len(rows) < FORGET_ROWS_MAX:
            return forgotten


def _spans(known: Mapping[str, Any]) -> list[KeptSpan]:
    return [KeptSpan.from_json(span_id, each) for span_id, each in known.items()]
