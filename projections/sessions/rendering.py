"""Render a session of the list: its row, decrypted texts and enrichment."""

import json
from collections.abc import Collection
from decimal import Decimal
from typing import Any
from uuid import UUID

from projections.sessions.queries import SessionRow
from projections.sessions.resource import ReadSession, StoredSession, TraceStoreSays
from projections.sessions.texts import ShownText
from projections.sessions.trace_store import Enrichment, Enrichments
from service.http.envelope import joined, to_json


def rendered(
    row: SessionRow,
    first_input: ShownText,
    last_output: ShownText,
    enrichments: Enrichments | None,
) -> bytes:
    """Return a session as JSON: the stored JSON and the fields computed on read."""
    enrichment = enrichments.get(row.session_id) if enrichments else None
    stored = row.rendered.encode()
    if enrichment is not None:
        stored = to_json(merged(json.loads(stored, parse_float=Decimal), enrichment))
    now: ReadSession = {
        "first_input": first_input.text,
        "first_input_truncated": first_input.truncated,
        "last_output": last_output.text,
        "last_output_truncated": last_output.truncated,
        "session_annotations": enrichment.annotations if enrichment else [],
        "session_annotation_summaries": (
            enrichment.annotation_summaries if enrichment else []
        ),
        "trace_store": trace_store_state(enrichments, row.session_id),
    }
    return joined(stored, to_json(now))


def merged(stored: StoredSession, enrichment: Enrichment) -> StoredSession:
    """Replace our figures by the trace store's, where it has them.

    Related figures come from one source: tokens with their kinds, a cost with its
    currency, the number of traces with their latencies.
    """
    if enrichment.cost is not None:
        cost: Any = enrichment.cost
        stored["cost_summary"] = {
            "total": {"cost": cost, "currency": enrichment.currency},
            "traces_without_price": None,
        }
    if enrichment.tokens is not None:
        tokens = stored["token_usage"]
        if tokens["total"] != enrichment.tokens:
            tokens["cache_read"] = tokens["cache_creation"] = None
        tokens["total"] = enrichment.tokens
        tokens["prompt"] = enrichment.prompt_tokens
        tokens["completion"] = enrichment.completion_tokens
    p50, p99 = enrichment.latency_ms_p50, enrichment.latency_ms_p99
    if enrichment.traces is not None and p50 is not None and p99 is not None:
        stored["num_traces"] = enrichment.traces
        stored["num_traces_with_error"] = enrichment.traces_with_error
        stored["trace_latency_ms_p50"] = p50
        stored["trace_latency_ms_p99"] = p99
    return stored


def trace_store_state(
    enrichments: Enrichments | None, session_id: str
) -> TraceStoreSays:
    if enrichments is None:
        return "not_configured"
    if session_id not in enrichments:
        return "unavailable"
    return "unknown_session" if enrichments[session_id] is None else "found"


def count_agents(
    rows: Collection[SessionRow], enrichments: Enrichments | None
) -> tuple[int, int]:
    """Count the distinct agents of a page: those without a failed lookup, and all.

    A session that is unknown to the store counts as looked up.
    """
    every = {row.agent_id for row in rows}
    failed: set[UUID] = set()
    if enrichments is not None:
        failed = {row.agent_id for row in rows if row.session_id not in enrichments}
    return len(every) - len(failed), len(every)
