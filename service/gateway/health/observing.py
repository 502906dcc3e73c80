"""The interface to observe a connector's tools now."""

from typing import Protocol
from uuid import UUID

from aiohttp import web


class Observer(Protocol):
    """Observes connectors of this process."""

    async def observe_now(self, connector_id: UUID, timeout_s: float) -> bool:
        """Observe a connector, and wait for the end; False if it takes longer.

        :raises TooManyRequestsError: this process observes many at others' request
        """


OBSERVER: web.AppKey[Observer] = web.AppKey("definition_observer")
