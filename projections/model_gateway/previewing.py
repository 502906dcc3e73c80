"""What previews read: agents by their routing, and models by recorded turns."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from aiohttp import web

from projections.engine.snapshot import reading
from projections.model_gateway.queries import (
    recorded_models,
    routed_to_preset,
    routed_to_tiers,
)
from service.http.authentication import PRINCIPAL
from service.model_gateway.recorded_models import RecordedModel
from service.model_gateway.routed_agents import FoundAgent

FOLLOWERS = ("model_gateway", "agents")


class ReadRoutedAgents:
    """Implements RoutedAgents."""

    async def to_preset(
        self, request: web.Request, preset_id: UUID
    ) -> Sequence[FoundAgent]:
        async with reading(request, *FOLLOWERS) as snapshot:
            return await routed_to_preset(
                snapshot.db, preset_id, principal=request[PRINCIPAL]
            )

    async def to_tiers(
        self, request: web.Request, tiers: Collection[str]
    ) -> Sequence[FoundAgent]:
        async with reading(request, *FOLLOWERS) as snapshot:
            return await routed_to_tiers(
                snapshot.db, tiers, principal=request[PRINCIPAL]
            )


class ReadRecordedModels:
    """Implements RecordedModels."""

    async def of_agent(
        self, request: web.Request, agent_id: UUID, since: datetime
    ) -> Sequence[RecordedModel]:
        async with reading(request, "usage") as snapshot:
            return await recorded_models(snapshot.db, agent_id=agent_id, since=since)
