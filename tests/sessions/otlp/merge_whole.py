"""Spans of a trace in one document that each export rewrites: before migration 0016."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Final

import orjson
from psycopg.rows import TupleRow

from service.database import Pool
from service.pacing import computed
from service.sessions.otlp.pending import (
    SPAN_BYTES,
    KeptTrace,
    TraceKey,
    _batches,
)
from service.sessions.otlp.span import KeptSpan, KeptText
from service.sessions.otlp.trace import TraceTexts

MERGE: Final = """
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
           <= 5000
       AND pg_column_size(known.spans) <= 4194304
    RETURNING agent_id, trace_id, spans::text, first_input, last_output
"""


async def merge_whole(
    pool: Pool, given: Mapping[TraceKey, KeptTrace]
) -> dict[TraceKey, KeptTrace]:
    """Add spans to their traces, and return all of these traces."""
    merged: dict[TraceKey, KeptTrace] = {}
    for some in await computed(len(given), _batches, given):
        merged |= await _merge(pool, some)
    return merged


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
            },
        )
        rows = await cursor.fetchall()
    size = sum(len(row[2]) for row in rows) // SPAN_BYTES
    return await computed(size, _merged, rows)


def _merged(rows: Iterable[TupleRow]) -> dict[TraceKey, KeptTrace]:
    return {
        TraceKey(agent_id, trace_id): KeptTrace(
            [
                KeptSpan.from_json(span_id, span)
                for span_id, span in orjson.loads(spans).items()
            ],
            TraceTexts(
                input=KeptText(**first) if first else None,
                output=KeptText(**last) if last else None,
            ),
        )
        for agent_id, trace_id, spans, first, last in rows
    }


def _rendered(traces: Iterable[Iterable[KeptSpan]]) -> list[str]:
    return [_json({span.span_id: span.to_json() for span in each}) for each in traces]


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def _text_json(text: KeptText | None) -> str | None:
    return None if text is None else _json(asdict(text))
