"""Say in the service's log why calls fail, without repeating it."""

import logging
from collections.abc import Callable
from time import monotonic
from typing import Final
from uuid import UUID

from cachetools import TTLCache

from service.gateway.gate import Upstream
from service.gateway.health.explain import host_of
from service.gateway.upstream.errors import Cause, UpstreamError

# A connector's calls that fail for the same cause are told once in so long.
INTERVAL_S: Final = 60.0
TOLD_MAX: Final = 4096

logger = logging.getLogger(__name__)


class FailedCalls:
    """Warns once a minute for each connector and cause; otherwise at level debug."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._told: TTLCache[tuple[int, Cause], bool] = TTLCache(
            TOLD_MAX, INTERVAL_S, clock
        )

    def log(
        self,
        upstream: Upstream,
        error: UpstreamError,
        call_id: UUID | None = None,
    ) -> None:
        """Log why a call wasn't sent, or without a usable answer if it has an id."""
        key = upstream.connector_id.int, error.cause
        level = logging.DEBUG if key in self._told else logging.WARNING
        self._told.setdefault(key, True)
        extra = {"connector_id": str(upstream.connector_id), "cause": error.cause}
        logger.log(
            level,
            "a tool call to connector %r at %s %s: %s%s",
            upstream.name,
            host_of(upstream.url),
            "was not sent" if call_id is None else "failed",
            # Without what the agent is told to do.
            error.message.partition(";")[0],
            f" ({error.detail})" if error.detail else "",
            extra=extra if call_id is None else {**extra, "call_id": str(call_id)},
        )
