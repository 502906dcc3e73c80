"""Calls in flight: of a process, of an agent, of a connector, and of both together."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from uuid import UUID

from prometheus_client import Gauge

from service.errors import ServiceError, TooManyRequestsError, UnavailableError

CALLS_MAX: Final = 256
CALLS_OF_AGENT_MAX: Final = 32
# Fewer, so that a server that hangs leaves an agent its other tools.
CALLS_OF_AGENT_AT_CONNECTOR_MAX: Final = 16
CALLS_OF_CONNECTOR_MAX: Final = 32
RETRY_AFTER: Final = {"Retry-After": "1"}

IN_FLIGHT = Gauge(
    "agent_runtime_gateway_calls_in_flight",
    "Tool calls that are being decided, held for an approval or forwarded.",
)


class CallLimits:
    """Refuses calls above the limits at once: nothing waits in a queue."""

    def __init__(self) -> None:
        self._all = 0
        # By numbers of ids: hashing a UUID takes a call of a Python function.
        self._of: dict[int | tuple[int, int], int] = {}

    def reached(self, agent_id: UUID, connector_id: UUID) -> ServiceError | None:
        """Return the error of a call that would be one too many."""
        if self._all >= CALLS_MAX:
            return UnavailableError(
                "the gateway has too many calls in flight; call again in a second",
                code="too_many_calls",
                headers=RETRY_AFTER,
            )
        agent, connector = agent_id.int, connector_id.int
        for key, most, whose in (
            (
                (agent, connector),
                CALLS_OF_AGENT_AT_CONNECTOR_MAX,
                "of this connector, the agent",
            ),
            (agent, CALLS_OF_AGENT_MAX, "the agent"),
            (connector, CALLS_OF_CONNECTOR_MAX, "the connector"),
        ):
            if self._of.get(key, 0) >= most:
                return TooManyRequestsError(
                    f"{whose} has {most} calls in flight; call again in a second",
                    code="too_many_calls",
                    headers=RETRY_AFTER,
                )
        return None

    @contextmanager
    def counted(self, agent_id: UUID, connector_id: UUID) -> Iterator[None]:
        """Count a call in flight."""
        self._all += 1
        IN_FLIGHT.inc()
        agent, connector = agent_id.int, connector_id.int
        counted = (agent, connector, (agent, connector))
        for key in counted:
            self._of[key] = self._of.get(key, 0) + 1
        try:
            yield
        finally:
            self._all -= 1
            IN_FLIGHT.dec()
            for key in counted:
                left = self._of[key] - 1
                if left:
                    self._of[key] = left
                else:
                    del self._of[key]
