"""The relay's status and metrics."""

import time
from typing import Final

from prometheus_client import Counter, Gauge

from projections.engine.progress import FollowerStatus, State

LAG_SECONDS: Final = Gauge(
    "agent_runtime_relay_lag_seconds", "Age of the oldest event not yet published."
)
UP: Final = Gauge(
    "agent_runtime_relay_up",
    "1 while this process publishes to Kafka.",
    # A series appears only in a process that runs a relay: 0 everywhere is an alarm.
    ["topic"],
)
PUBLISHED: Final = Counter("agent_runtime_relay_events", "Events published to Kafka.")
TRANSACTIONS: Final = Counter(
    "agent_runtime_relay_transactions", "Kafka transactions committed."
)
FAILURES: Final = Counter(
    "agent_runtime_relay_failures", "Publishers that ended, by reason.", ["reason"]
)


class RelayMetrics:
    """The relay's status, with its lag in events and in seconds."""

    def __init__(self, name: str, topic: str) -> None:
        self.status = FollowerStatus(name)
        self._up = UP.labels(topic)
        self._behind_since: float | None = None
        self._seen_at = 0.0
        LAG_SECONDS.set_function(self.lag_s)

    @property
    def behind_since(self) -> float | None:
        """When the oldest unpublished event was recorded, in Unix seconds."""
        return self._behind_since

    @behind_since.setter
    def behind_since(self, since: float | None) -> None:
        if since != self._behind_since:
            self._behind_since, self._seen_at = since, time.monotonic()

    def lag_s(self) -> float:
        # Computed at each scrape: a relay that hangs can't report.
        if self._behind_since is None:
            return 0.0
        # While the log is ahead of the clock, its events have no age.
        seen_s = time.monotonic() - self._seen_at
        return max(time.time() - self._behind_since, seen_s)

    def behind(self, position: int, head: int, since: float | None) -> None:
        """Report the lag before Kafka has answered."""
        self.behind_since = since
        self.status.position, self.status.head = position, head
        self.status.report()

    def standby(self) -> None:
        self.behind_since = None
        self._enter("standby")

    def following(self, position: int, head: int) -> None:
        self.status.position, self.status.head = position, head
        if position >= head:
            self.behind_since = None
        self._enter("following")

    def interrupted(self, error: Exception) -> None:
        FAILURES.labels(type(error).__name__).inc()
        self._enter("interrupted", type(error).__name__)

    def stopped(self, error: Exception, reason: str) -> None:
        FAILURES.labels(type(error).__name__).inc()
        self._enter("stopped", reason)

    def _enter(self, state: State, reason: str | None = None) -> None:
        self.status.state = state
        self.status.reason = reason
        self._up.set(state == "following")
        self.status.report()
