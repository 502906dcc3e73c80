"""A session of the list as JSON: our own row, its opened texts, an enrichment."""

import json
from collections.abc import Collection
from decimal import Decimal
from typing import Any
from uuid import UUID

from projections.sessions.queries import SessionRow
from projections.sessions.resource import TraceStoreSays
from projections.sessions.texts import ShownText
from projections.sessions.trace_store import Enrichment, Enrichments
from service.http.envelope import to_json


def rendered(
    row: SessionRow,
    first_input: ShownText,
    last_output: ShownText,
    enrichments: Enrichments | None,
) -> bytes:
    """Join what the read table holds rendered with what is known only now."""
    enrichment = enrichments.get(row.session_id) if enrichments else None
    figures = row.figures if enrichment is None else merged(row.figures, enrichment)
    now = {
        "first_input": first_input.text,
        "first_input_truncated": first_input.truncated,
        "last_output": last_output.text,
        "last_output_truncated": last_output.truncated,
        "session_annotations": enrichment.annotations if enrichment else [],
        "session_annotation_summaries": (
            enrichment.annotation_summaries if enrichment else []
        ),
        "trace_store": said(enrichments, row.session_id),
    }
    return b"".join(
        (
            row.facts[:-1].encode(),
            b",",
            figures[1:-1].encode(),
            b",",
            to_json(now)[1:],
        )
    )


def merged(figures: str, enrichment: Enrichment) -> str:
    """Show a trace store's figures where it has them, and our own where it has none.

    What belongs together comes from one side: tokens with their kinds, a cost with
    its currency, and trace count and latencies, which are of the same traces.
    """
    own: dict[str, Any] = json.loads(figures, parse_float=Decimal)
    if enrichment.cost is not None:
        own["cost_summary"] = {
            "total": {"cost": enrichment.cost, "currency": enrichment.currency},
            "traces_without_price": None,
        }
    if enrichment.tokens is not None:
        tokens = own["token_usage"]
        if tokens["total"] != enrichment.tokens:
            tokens["cache_read"] = tokens["cache_creation"] = None
        tokens["total"] = enrichment.tokens
        tokens["prompt"] = enrichment.prompt_tokens
        tokens["completion"] = enrichment.completion_tokens
    latencies = enrichment.latency_ms_p50, enrichment.latency_ms_p99
    if enrichment.traces is not None and None not in latencies:
        own["num_traces"] = enrichment.traces
        own["num_traces_with_error"] = enrichment.traces_with_error
        own["trace_latency_ms_p50"], own["trace_latency_ms_p99"] = latencies
    return to_json(own).decode()


def said(enrichments: Enrichments | None, session_id: str) -> TraceStoreSays:
    if enrichments is None:
        return "not_configured"
    if session_id not in enrichments:
        return "unavailable"
    return "unknown_session" if enrichments[session_id] is None else "found"


def agents(
    rows: Collection[SessionRow], enrichments: Enrichments | None
) -> tuple[int, int]:
    """Count the distinct agents of a page: those without a failed lookup, and all.

    A session that the store doesn't know was looked up all the same.
    """
    every = {row.agent_id for row in rows}
    failed: set[UUID] = set()
    if enrichments is not None:
        failed = {row.agent_id for row in rows if row.session_id not in enrichments}
    return len(every) - len(failed), len(every)
