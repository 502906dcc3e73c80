"""The interface by which a preview finds the agents that a change concerns."""

from collections.abc import Collection, Sequence
from typing import Final, Protocol
from uuid import UUID

from aiohttp import web
from typing_extensions import TypedDict

ROUTED_MAX: Final = 1_000


class RoutedAgent(TypedDict):
    """An agent, and the names of models that its routing leads to a preset or tier.

    ``tier`` is null for routes that name the preset themselves.
    """

    agent_id: UUID
    models: list[str]
    tier: str | None


class RoutedAgents(Protocol):
    """Finds agents by their routing, as the read tables have it."""

    async def to_preset(self, preset_id: UUID) -> Sequence[RoutedAgent]:
        """Return the agents with routes to a preset, also by a tier; by id.

        At most ``ROUTED_MAX`` and one more.
        """

    async def to_tiers(self, tiers: Collection[str]) -> Sequence[RoutedAgent]:
        """Return the agents for which the registry says what some tiers are; by id.

        At most ``ROUTED_MAX`` and one more.
        """


ROUTED_AGENTS: web.AppKey[RoutedAgents] = web.AppKey("routed_agents")
