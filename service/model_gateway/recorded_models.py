"""The interface by which a preview of routing reads which models were called."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from aiohttp import web

RECORDED_MAX: Final = 200


class RecordedModel(NamedTuple):
    """A model that an agent's recorded turns have called, and how often."""

    model: str
    calls: int
    last_at: datetime


class RecordedModels(Protocol):
    async def of_agent(
        self, request: web.Request, agent_id: UUID, since: datetime
    ) -> Sequence[RecordedModel]:
        """Return the models that an agent has called, those called most first.

        At most ``RECORDED_MAX`` and one more. ``last_at`` is that quarter of an hour.
        """


RECORDED_MODELS: web.AppKey[RecordedModels] = web.AppKey("recorded_models")
