"""Render a session of the list: its row, decrypted texts and enrichment."""

import json
from collections.abc import Collection
from decimal import Decimal
from typing import Any

from projections.sessions.queries import SessionRow
from projections.sessions.resource import (
    UNKNOWN_TOOL_CALLS,
    FiguresFrom,
    SessionTexts,
    StoredSession,
    ToolCallFigures,
    TraceStoreFields,
    TraceStoreFigures,
    TraceStoreSays,
)
from projections.sessions.texts import NO_TEXT, ShownText
from projections.sessions.trace_store import Enrichment, Enrichments
from service.http.envelope import joined, to_json


def rendered(
    row: SessionRow,
    first_input: ShownText,
    last_output: ShownText,
    enrichments: Enrichments | None,
) -> bytes:
    """Return a session as JSON: the stored JSON and the fields computed on read.

    The figures are ours wherever a turn was recorded, whatever the trace store says, so
    that lists, sessions and usage agree. A session without turns has the trace store's.
    """
    texts = _rendered_texts(first_input, last_output)
    tool_calls = _rendered_tool_calls(row)
    if enrichments is None:
        return joined(row.rendered.encode(), tool_calls, texts, WITHOUT_TRACE_STORE)
    enrichment = enrichments.get(row.session_id)
    stored = row.rendered.encode()
    figures_from: FiguresFrom = "service"
    if enrichment is not None and enrichment.has_figures:
        ours = json.loads(stored, parse_float=Decimal)
        if not ours["num_traces"]:
            stored, figures_from = to_json(filled_in(ours, enrichment)), "trace_store"
    found: TraceStoreFields = {
        "session_annotations": enrichment.annotations if enrichment else [],
        "session_annotation_summaries": (
            enrichment.annotation_summaries if enrichment else []
        ),
        "trace_store": trace_store_state(enrichments, row.session_id),
        "figures_from": figures_from,
        "trace_store_figures": figures_of(enrichment) if enrichment else None,
    }
    return joined(stored, tool_calls, texts, to_json(found))


def _rendered_tool_calls(row: SessionRow) -> bytes:
    if row.tool_calls is None:
        return WITHOUT_TOOL_CALLS
    figures: ToolCallFigures = {
        "num_tool_calls": row.tool_calls,
        "num_tool_calls_with_error": row.tool_call_errors,
    }
    return to_json(figures)


def _rendered_texts(first_input: ShownText, last_output: ShownText) -> bytes:
    if first_input is last_output is NO_TEXT:
        return NO_TEXTS
    texts: SessionTexts = {
        "first_input": first_input.text,
        "first_input_truncated": first_input.truncated,
        "last_output": last_output.text,
        "last_output_truncated": last_output.truncated,
    }
    return to_json(texts)


def filled_in(stored: StoredSession, enrichment: Enrichment) -> StoredSession:
    """Return a session without turns with the trace store's figures."""
    cost: Any = enrichment.cost
    if cost is not None:
        stored["cost_summary"]["total"] = {
            "cost": cost,
            "currency": enrichment.currency,
        }
        stored["cost_summary"]["traces_without_price"] = None
    stored["token_usage"]["total"] = enrichment.tokens
    stored["token_usage"]["prompt"] = enrichment.prompt_tokens
    stored["token_usage"]["completion"] = enrichment.completion_tokens
    if enrichment.traces is not None:
        stored["num_traces"] = enrichment.traces
        stored["num_traces_with_error"] = enrichment.traces_with_error
        stored["trace_latency_ms_p50"] = enrichment.latency_ms_p50
        stored["trace_latency_ms_p99"] = enrichment.latency_ms_p99
    return stored


def figures_of(enrichment: Enrichment) -> TraceStoreFigures:
    cost: Any = enrichment.cost
    return {
        "traces": enrichment.traces,
        "traces_with_error": enrichment.traces_with_error,
        "tokens": enrichment.tokens,
        "prompt_tokens": enrichment.prompt_tokens,
        "completion_tokens": enrichment.completion_tokens,
        "cost": cost,
        "currency": enrichment.currency,
        "latency_ms_p50": enrichment.latency_ms_p50,
        "latency_ms_p99": enrichment.latency_ms_p99,
    }


def trace_store_state(enrichments: Enrichments, session_id: str) -> TraceStoreSays:
    if session_id not in enrichments:
        return "unavailable"
    return "unknown_session" if enrichments[session_id] is None else "found"


def count_agents(
    rows: Collection[SessionRow], enrichments: Enrichments | None
) -> tuple[int, int]:
    """Count the distinct agents of a page: those without a failed lookup, and all.

    A session that is unknown to the store counts as looked up.
    """
    every = len({row.agent_id for row in rows})
    if enrichments is None:
        return every, every
    failed = {row.agent_id for row in rows if row.session_id not in enrichments}
    return every - len(failed), every


_FIELDS_WITHOUT_TRACE_STORE: TraceStoreFields = {
    "session_annotations": [],
    "session_annotation_summaries": [],
    "trace_store": "not_configured",
    "figures_from": "service",
    "trace_store_figures": None,
}
# Rendered once: most sessions of most lists have these.
WITHOUT_TRACE_STORE = to_json(_FIELDS_WITHOUT_TRACE_STORE)
WITHOUT_TOOL_CALLS = to_json(UNKNOWN_TOOL_CALLS)
_FIELDS_WITHOUT_TEXTS: SessionTexts = {
    "first_input": None,
    "first_input_truncated": False,
    "last_output": None,
    "last_output_truncated": False,
}
NO_TEXTS = to_json(_FIELDS_WITHOUT_TEXTS)
