"""What previews read: agents by their routing, and models by recorded turns."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from projections.model_gateway.queries import (
    recorded_models,
    routed_to_preset,
    routed_to_tiers,
)
from service.database import Pool
from service.model_gateway.recorded_models import RecordedModel
from service.model_gateway.routed_agents import RoutedAgent


class ReadRoutedAgents:
    """Implements RoutedAgents."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def to_preset(self, preset_id: UUID) -> Sequence[RoutedAgent]:
        async with self._pool.connection() as db:
            return await routed_to_preset(db, preset_id)

    async def to_tiers(self, tiers: Collection[str]) -> Sequence[RoutedAgent]:
        async with self._pool.connection() as db:
            return await routed_to_tiers(db, tiers)


class ReadRecordedModels:
    """Implements RecordedModels."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def of_agent(
        self, agent_id: UUID, since: datetime
    ) -> Sequence[RecordedModel]:
        async with self._pool.connection() as db:
            return await recorded_models(db, agent_id=agent_id, since=since)
