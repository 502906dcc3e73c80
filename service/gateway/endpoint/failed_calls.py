"""Say in the service's log why calls fail, without repeating it."""

import logging
from collections.abc import Callable
from time import monotonic
from typing import Final
from uuid import UUID

from cachetools import LRUCache

from service.gateway.gate import Upstream
from service.gateway.health.explain import host_of
from service.gateway.upstream.errors import UpstreamError
from service.outages import Outage

# Of more connectors that fail at a time, some are told again.
CONNECTORS_MAX: Final = 4096

logger = logging.getLogger(__name__)


class FailedCalls:
    """Warns once for each connector and cause, and says when calls are answered again.

    All other failures are logged at level debug.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._outages: LRUCache[int, Outage] = LRUCache(CONNECTORS_MAX)

    def log(
        self,
        upstream: Upstream,
        error: UpstreamError,
        call_id: UUID | None = None,
    ) -> None:
        """Log why a call wasn't sent, or without a usable answer if it has an id."""
        key = upstream.connector_id.int
        outage = self._outages.get(key)
        if outage is None:
            outage = self._outages[key] = Outage(self._clock)
        host = host_of(upstream.url)
        extra = {"connector_id": str(upstream.connector_id), "cause": error.cause}
        logger.log(
            outage.level((error.cause, host)),
            "a tool call to connector %r at %s %s: %s%s",
            upstream.name,
            host,
            "was not sent" if call_id is None else "failed",
            # Without what the agent is told to do.
            error.message.partition(";")[0],
            f" ({error.detail})" if error.detail else "",
            extra=extra if call_id is None else {**extra, "call_id": str(call_id)},
        )

    def answered(self, upstream: Upstream) -> None:
        """Note that a call was answered, and say so if calls have failed before."""
        outage = self._outages.get(upstream.connector_id.int)
        if outage is not None and outage.has_ended():
            logger.info(
                "connector %r at %s answers calls again",
                upstream.name,
                host_of(upstream.url),
                extra={"connector_id": str(upstream.connector_id)},
            )
