"""A session of the list as JSON: our own row, its opened texts, an enrichment."""

import json
from collections.abc import Iterable
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
    """Fill the gaps of a session's own figures with a trace store's.

    Our own database is the authority: what it knows stands. Trace count and
    latencies belong to the same traces, so they come from one side together: from
    the store only for a session without a recorded turn.
    """
    own: dict[str, Any] = json.loads(figures, parse_float=Decimal)
    total_cost = own["cost_summary"]["total"]
    if total_cost["cost"] is None and enrichment.cost is not None:
        total_cost["cost"] = enrichment.cost
        total_cost["currency"] = enrichment.currency
    if own["token_usage"]["total"] is None:
        own["token_usage"]["total"] = enrichment.tokens
    if own["num_traces"] == 0 and enrichment.traces is not None:
        own["num_traces"] = enrichment.traces
        own["num_traces_with_error"] = enrichment.traces_with_error
        own["trace_latency_ms_p50"] = enrichment.latency_ms_p50
        own["trace_latency_ms_p99"] = enrichment.latency_ms_p99
    return to_json(own).decode()


def said(enrichments: Enrichments | None, session_id: str) -> TraceStoreSays:
    if enrichments is None:
        return "not_configured"
    if session_id not in enrichments:
        return "unavailable"
    return "unknown_session" if enrichments[session_id] is None else "found"


def agents(
    rows: Iterable[SessionRow], enrichments: Enrichments | None
) -> tuple[int, int]:
    """Count the distinct agents of a page: those without a failed lookup, and all.

    A session that the store doesn't know was looked up all the same.
    """
    every: set[UUID] = set()
    failed: set[UUID] = set()
    for row in rows:
        every.add(row.agent_id)
        if said(enrichments, row.session_id) == "unavailable":
            failed.add(row.agent_id)
    return len(every) - len(failed), len(every)
