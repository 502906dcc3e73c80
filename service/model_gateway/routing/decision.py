"""Which preset answers a name of a model; no database and no clock."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Literal, NamedTuple

from service.model_gateway.routing.terms import ModelRoute, RoutingTerms
from service.tool_rules.glob import matches


class RoutingProblem(StrEnum):
    """Why a name of a model can't be called."""

    AGENT_RETIRED = "agent_retired"
    NO_ROUTE = "no_route"
    UNKNOWN_TIER = "unknown_tier"
    PRESET_UNAVAILABLE = "preset_unavailable"
    """There is no such preset any more, or the agent may not call it."""
    NO_TARGET = "no_target"
    """No call can be sent to any target of the preset."""
    NO_COMMON_DIALECT = "no_common_dialect"


class RoutedTier(NamedTuple):
    """A tier, the preset that it stands for, and who says so; None: nobody does."""

    name: str
    preset_id: str | None
    said_by: Literal["agent", "registry"] | None


class RouteTarget(NamedTuple):
    """The preset that a route leads to, and by which tier, if by one."""

    preset_id: str | None
    tier: RoutedTier | None


def deciding_route(model: str, terms: RoutingTerms) -> int | None:
    """Return the number of the route for a name; None without one.

    The first route whose pattern matches the whole name counts; case matters.
    """
    return next((number for number in matching_routes(model, terms)), None)


def matching_routes(model: str, terms: RoutingTerms) -> Iterator[int]:
    """Yield the numbers of all routes that match a name, in order."""
    for number, route in enumerate(terms["routes"]):
        if matches(route["model"], model):
            yield number


def target_of(
    route: ModelRoute, terms: RoutingTerms, registry: Mapping[str, str]
) -> RouteTarget:
    """Return where a route leads: an agent's own tier comes before the registry's."""
    tier = route["tier"]
    if tier is None:
        return RouteTarget(route["preset_id"], None)
    found = tier_of(tier, terms, registry)
    return RouteTarget(found.preset_id, found)


def tier_of(tier: str, terms: RoutingTerms, registry: Mapping[str, str]) -> RoutedTier:
    if tier in terms["tiers"]:
        return RoutedTier(tier, terms["tiers"][tier], "agent")
    if tier in registry:
        return RoutedTier(tier, registry[tier], "registry")
    return RoutedTier(tier, None, None)
