"""Open traces, which accept more spans: table ``events.reported_trace``."""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import orjson
import psycopg
from prometheus_client import Counter
from psycopg.rows import TupleRow

from service.database import Pool
from service.pacing import Pace, computed
from service.sessions.otlp.span import KeptSpan, KeptText
from service.sessions.otlp.trace import NO_TEXTS, TraceTexts, turn_of

# A trace accepts spans until this long after its last one.
KEPT_FOR: Final = timedelta(hours=2)
SPANS_OF_TRACE_MAX: Final = 5_000
TRACES_OF_AGENT_MAX: Final = 500_000
# Of a trace, with the encrypted texts of the spans with which a turn can begin.
TRACE_BYTES_MAX: Final = 4 * 1024 * 1024
# In one statement, which holds the event loop while it is sent and read.
BYTES_AT_ONCE: Final = 1024 * 1024
TRACES_AT_ONCE: Final = 200
# About as long as one is in JSON, without texts.
SPAN_BYTES: Final = 200
FORGET_EVERY_S: Final = 60.0
FORGET_ROWS_MAX: Final = 500


# Existing spans stay: a span that arrives twice is the same span. Of two texts the one
# that is first in order stays. Rows are locked in order, so that two requests with the
# same traces don't deadlock.
MERGE = """
    INSERT INTO events.reported_trace AS known
           (agent_id, trace_id, spans, first_input, last_output)
    SELECT agent_id, trace_id, spans, first_input, last_output
      FROM unnest(%(agents)b::uuid[], %(traces)b::text[], %(spans)b::jsonb[],
                  %(inputs)b::jsonb[], %(outputs)b::jsonb[])
           AS given (agent_id, trace_id, spans, first_input, last_output)
     ORDER BY agent_id, trace_id
    ON CONFLICT (agent_id, trace_id) DO UPDATE
       SET spans = excluded.spans || known.spans, touched_at = now(),
           first_input = CASE WHEN known.first_input->>'order' COLLATE "C"
                <= excluded.first_input->>'order' THEN known.first_input
                ELSE coalesce(excluded.first_input, known.first_input) END,
           last_output = CASE WHEN known.last_output->>'order' COLLATE "C"
                >= excluded.last_output->>'order' THEN known.last_output
                ELSE coalesce(excluded.last_output, known.last_output) END
     WHERE (SELECT count(*) FROM jsonb_object_keys(excluded.spans || known.spans))
           <= %(spans_max)s
       AND pg_column_size(known.spans) <= %(bytes_max)s
    RETURNING agent_id, trace_id, spans::text, first_input, last_output
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
    RETURNING t.agent_id, t.trace_id, t.spans::text
"""
FORGOTTEN = Counter(
    "agent_runtime_reported_traces_forgotten_total",
    "Deleted traces that accepted no more spans: recorded turns, and incomplete ones "
    "without a root span or a session.",
    ["was"],
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TraceKey:
    """A trace of one agent; spans of other agents are not part of it."""

    agent_id: UUID
    trace_id: str


@dataclass(frozen=True, slots=True)
class KeptTrace:
    """Spans of a trace, and the best texts of those with which no turn can begin."""

    spans: Sequence[KeptSpan]
    texts: TraceTexts = NO_TEXTS

    @property
    def size(self) -> int:
        """About as many bytes as it has in JSON."""
        entries = sum(each.entry.size for each in self.spans if each.entry is not None)
        texts = (self.texts.input, self.texts.output)
        sealed = sum(len(each.sealed) for each in texts if each is not None)
        return SPAN_BYTES * len(self.spans) + entries + sealed

    @property
    def is_too_large(self) -> bool:
        is_long = len(self.spans) > SPANS_OF_TRACE_MAX
        return is_long or self.size > TRACE_BYTES_MAX


async def merge_spans(
    pool: Pool, given: Mapping[TraceKey, KeptTrace]
) -> dict[TraceKey, KeptTrace]:
    """Add spans to their traces, and return all that is kept of these traces.

    A trace that would have more than ``SPANS_OF_TRACE_MAX``, or has more than
    ``TRACE_BYTES_MAX``, stays as it is and is not returned.
    """
    merged: dict[TraceKey, KeptTrace] = {}
    for some in await computed(len(given), _parts, given):
        merged |= await _merge(pool, some)
    return merged


def _parts(given: Mapping[TraceKey, KeptTrace]) -> list[dict[TraceKey, KeptTrace]]:
    """Divide traces into parts of bounded size; a large trace is one by itself."""
    parts: list[dict[TraceKey, KeptTrace]] = []
    free = 0
    for key in sorted(given, key=lambda key: (key.agent_id, key.trace_id)):
        trace = given[key]
        if trace.is_too_large:
            continue
        size = trace.size
        if size > free or len(parts[-1]) == TRACES_AT_ONCE:
            parts.append({})
            free = BYTES_AT_ONCE
        parts[-1][key] = trace
        free -= size
    return parts


async def _merge(
    pool: Pool, given: Mapping[TraceKey, KeptTrace]
) -> dict[TraceKey, KeptTrace]:
    spans = [trace.spans for trace in given.values()]
    rendered = await computed(sum(map(len, spans)), _rendered, spans)
    async with pool.connection() as db:
        cursor = await db.execute(
            MERGE,
            {
                "agents": [key.agent_id for key in given],
                "traces": [key.trace_id for key in given],
                "spans": rendered,
                "inputs": [_text_json(trace.texts.input) for trace in given.values()],
                "outputs": [_text_json(trace.texts.output) for trace in given.values()],
                "spans_max": SPANS_OF_TRACE_MAX,
                "bytes_max": TRACE_BYTES_MAX,
            },
        )
        rows = await cursor.fetchall()
    size = sum(len(row[2]) for row in rows) // SPAN_BYTES
    return await computed(size, _merged, rows)


def _rendered(traces: Iterable[Iterable[KeptSpan]]) -> list[str]:
    return [_json({span.span_id: span.to_json() for span in each}) for each in traces]


def _merged(rows: Iterable[TupleRow]) -> dict[TraceKey, KeptTrace]:
    return {
        TraceKey(agent_id, trace_id): KeptTrace(
            _spans(orjson.loads(spans)),
            TraceTexts(input=_text(first), output=_text(last)),
        )
        for agent_id, trace_id, spans, first, last in rows
    }


async def has_room(pool: Pool, agent_id: UUID) -> bool:
    """Return whether an agent may start more traces."""
    async with pool.connection() as db:
        cursor = await db.execute(
            COUNT, {"agent": agent_id, "limit": TRACES_OF_AGENT_MAX}
        )
        row = await cursor.fetchone()
    assert row is not None
    return int(row[0]) < TRACES_OF_AGENT_MAX


async def keep_deleting_old_traces(pool: Pool) -> None:
    """Delete old traces every minute until cancelled; safe in many processes."""
    while True:
        try:
            await delete_old_traces(pool)
        except (psycopg.Error, OSError) as error:
            logger.warning("can't delete old traces: %s", error)
        await asyncio.sleep(FORGET_EVERY_S)


async def delete_old_traces(pool: Pool, *, kept_for: timedelta = KEPT_FOR) -> int:
    """Delete traces that accept no more spans, in batches, and return how many.

    Traces that never became a turn are counted and logged: their spans are lost.
    """
    deleted = 0
    while True:
        async with pool.connection() as db:
            cursor = await db.execute(
                FORGET, {"kept_for": kept_for, "rows": FORGET_ROWS_MAX}
            )
            rows = await cursor.fetchall()
        pace = Pace()
        for agent_id, trace_id, known in rows:
            await pace.pause()
            spans = orjson.loads(known)
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
        deleted += len(rows)
        if len(rows) < FORGET_ROWS_MAX:
            return deleted


def _spans(known: Mapping[str, Any]) -> list[KeptSpan]:
    return [KeptSpan.from_json(span_id, span) for span_id, span in known.items()]


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _text_json(text: KeptText | None) -> str | None:
    return None if text is None else _json(asdict(text))


def _text(kept: dict[str, str] | None) -> KeptText | None:
    return None if kept is None else KeptText(**kept)
