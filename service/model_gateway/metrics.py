"""Metrics of model calls."""

from prometheus_client import Counter

UNRECORDED = Counter(
    "agent_runtime_model_calls_unrecorded_total",
    "Refusals of model calls that could not be recorded as events; should stay 0.",
)
