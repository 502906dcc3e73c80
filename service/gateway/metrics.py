"""Metrics of tool calls: decisions, outcomes, and the time here and upstream."""

from functools import cache
from typing import Final

from prometheus_client import Counter, Histogram

BUCKETS: Final = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300)

DECISIONS = Counter(
    "agent_runtime_tool_calls_total",
    "Tool calls by decision: admitted, pending, or the reason of a refusal.",
    ["decision"],
)
OUTCOMES = Counter(
    "agent_runtime_tool_calls_finished_total",
    "Admitted tool calls by how they ended.",
    ["outcome"],
)
OWN_TIME = Histogram(
    "agent_runtime_tool_call_gateway_seconds",
    "Time of a tool call in the gateway, without its upstream's and a person's.",
    buckets=BUCKETS,
)
UPSTREAM_TIME = Histogram(
    "agent_runtime_tool_call_upstream_seconds",
    "Time of a tool call at its upstream.",
    buckets=BUCKETS,
)
UNRECORDED = Counter(
    "agent_runtime_tool_calls_unrecorded_total",
    "Refusals and ends of tool calls that could not be recorded as events; should "
    "stay 0.",
)
CREDENTIALS_RETURNED = Counter(
    "agent_runtime_gateway_credentials_returned_total",
    "Answers of upstreams that held the credential that was sent to them; should "
    "stay 0.",
)


@cache
def count_of(decision: str) -> Counter:
    """Return the counter of calls with one decision."""
    return DECISIONS.labels(decision)


@cache
def _ended_by(outcome: str) -> Counter:
    return OUTCOMES.labels(outcome)


def count_finished(outcome: str, own_s: float, upstream_s: float | None) -> None:
    """Count a call; ``own_s`` is without the time that a person was waited for."""
    _ended_by(outcome).inc()
    OWN_TIME.observe(own_s)
    if upstream_s is not None:
        UPSTREAM_TIME.observe(upstream_s)
