"""The interface by which a preview finds the agents that a change concerns."""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from aiohttp import web
from typing_extensions import TypedDict

ROUTED_MAX: Final = 1_000


class RoutedAgent(TypedDict):
    """An agent, the names of models that it is routed by, and the tiers on the way."""

    agent_id: UUID
    models: list[str]
    tiers: list[str]


class FoundAgent(NamedTuple):
    """A routed agent, and whether the caller can see it."""

    agent: RoutedAgent
    is_seen: bool


class RoutedAgents(Protocol):
    """Finds agents by their routing, as the request's caller has left it."""

    async def to_preset(
        self, request: web.Request, preset_id: UUID
    ) -> Sequence[FoundAgent]:
        """Return the agents with routes to a preset, also by a tier; by id.

        At most ``ROUTED_MAX`` and one more.
        """

    async def to_tiers(
        self, request: web.Request, tiers: Collection[str]
    ) -> Sequence[FoundAgent]:
        """Return the agents for which the registry says what some tiers are; by id.

        At most ``ROUTED_MAX`` and one more.
        """


ROUTED_AGENTS: web.AppKey[RoutedAgents] = web.AppKey("routed_agents")
