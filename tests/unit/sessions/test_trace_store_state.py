"""What is shown of a trace store's answer."""

from copy import deepcopy
from typing import Any

import pytest

from projections.sessions.rendering import filled_in, trace_store_state
from projections.sessions.trace_store import (
    Enrichment,
    Enrichments,
)

FULL = Enrichment(tokens=7)


def test_latencies_are_shown_only_for_a_store_with_traces() -> None:
    own: Any = {
        "cost_summary": {"total": {"cost": None, "currency": None}},
        "token_usage": {"total": None, "prompt": None, "completion": None},
        "num_traces": 0,
    }

    shown = filled_in(deepcopy(own), Enrichment(latency_ms_p50=1.0))

    assert shown == own


@pytest.mark.parametrize(
    ("enrichments", "expected"),
    [
        ({}, "unavailable"),
        ({"other": FULL}, "unavailable"),
        ({"chat": None}, "unknown_session"),
        ({"chat": FULL}, "found"),
    ],
)
def test_what_the_store_says(enrichments: Enrichments, expected: str) -> None:
    assert trace_store_state(enrichments, "chat") == expected
