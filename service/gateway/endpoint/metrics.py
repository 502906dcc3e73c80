"""Metrics of the gateway: our time apart from the upstreams'."""

from typing import Final

from prometheus_client import Counter, Histogram

BUCKETS: Final = (
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1,
    2.5,
    5,
    10,
)

CALLS = Counter(
    "agent_runtime_gateway_calls_total",
    "Tool calls of agents, by what became of them.",
    ["outcome"],
)
OWN_TIME = Histogram(
    "agent_runtime_gateway_own_seconds",
    "Time of a forwarded tool call that the gateway itself took: deciding, recording, "
    "relaying. Without the time that a person was asked.",
    buckets=BUCKETS,
)
UPSTREAM_TIME = Histogram(
    "agent_runtime_gateway_upstream_seconds",
    "Time of a forwarded tool call between the request to the upstream and its answer.",
    buckets=(*BUCKETS, 30, 60, 300),
)
