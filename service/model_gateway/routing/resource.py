"""How an agent's model calls are routed, as the API shows it."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID

from typing_extensions import TypedDict

from service.event_log.finder import Finder
from service.http.envelope import UuidText
from service.model_gateway.dialects import Dialect
from service.model_gateway.routing.decision import (
    RouteTarget,
    RoutingProblem,
    deciding_route,
    target_of,
)
from service.model_gateway.routing.plan import (
    Plan,
    PlannedTarget,
    TargetProblem,
    plan_for,
)
from service.model_gateway.routing.terms import ModelRoute, RoutingTerms
from service.price_catalog.effective import EffectivePrice, effective_price


class RoutingResource(RoutingTerms):
    """An agent's routing; ``version`` is 0 if it never had any."""

    agent_id: UUID
    version: int


class RouteProblem(TypedDict):
    """A route by which nothing can be called now."""

    model: str
    problem: RoutingProblem


class ModelPriceResource(TypedDict):
    """Prices of 1,000,000 tokens, contracts included.

    For a prompt of the length asked about, otherwise a short one. Null is unknown, or
    for cached tokens the price of input; 0 is free. ``priced_as`` is the entry of the
    catalog, ``provider/model``.
    """

    input_price_per_1m: Decimal | None
    output_price_per_1m: Decimal | None
    cache_creation_price_per_1m: Decimal | None
    cache_read_price_per_1m: Decimal | None
    currency: str | None
    priced_as: str
    price_id: str | None
    contract_id: str | None


class PlannedTargetResource(TypedDict):
    """A target of a preset; ``problem`` says why no call is sent there.

    ``fits`` says whether the prompt asked about fits into the context window, null if
    that isn't known. ``price`` is null if there is none.
    """

    connection_id: UuidText
    connection: str
    provider: str
    model: str
    weight: int
    context_window: int | None
    problem: TargetProblem | None
    fits: bool | None
    price: ModelPriceResource | None


class PlannedGroup(TypedDict):
    targets: list[PlannedTargetResource]


class RoutedTierResource(TypedDict):
    """A tier, and whether the agent's routing or the registry says what it is."""

    name: str
    preset_id: UuidText | None
    said_by: Literal["agent", "registry"] | None


class RoutedPreset(TypedDict):
    id: UUID
    name: str
    version: int


class RouteResource(TypedDict):
    """Where a route leads; ``problem`` says why nothing can be called by it.

    Its targets are in groups in the order in which they are tried, and all of its
    connections speak the ``dialects``.
    """

    model: str
    problem: RoutingProblem | None
    tier: RoutedTierResource | None
    preset: RoutedPreset | None
    dialects: list[Dialect]
    groups: list[PlannedGroup]


class RoutedName(TypedDict):
    """The preset that a name of a model leads to, or why it can't be called."""

    preset_id: UuidText | None
    tier: str | None
    problem: RoutingProblem | None


class ChangedName(TypedDict):
    """A name of a model that would lead elsewhere."""

    model: str
    before: RoutedName
    after: RoutedName


def routing_resource(
    agent_id: UUID, version: int, terms: RoutingTerms
) -> RoutingResource:
    return {"agent_id": agent_id, "version": version, **terms}


async def route_resource(
    route: ModelRoute,
    leads_to: RouteTarget,
    *,
    agent_id: UUID,
    aggregates: Finder,
    at: datetime,
    input_tokens: int | None = None,
) -> RouteResource:
    """Describe where a route leads, with the prices of a time."""
    tier = leads_to.tier
    found: RouteResource = {
        "model": route["model"],
        "problem": None,
        "tier": tier
        and {
            "name": tier.name,
            "preset_id": tier.preset_id,
            "said_by": tier.said_by,
        },
        "preset": None,
        "dialects": [],
        "groups": [],
    }
    if leads_to.preset_id is None:
        return {**found, "problem": RoutingProblem.UNKNOWN_TIER}
    plan = await plan_for(leads_to.preset_id, agent_id, aggregates)
    if plan is None:
        return {**found, "problem": RoutingProblem.PRESET_UNAVAILABLE}
    return {
        **found,
        "problem": plan.problem,
        "preset": {
            "id": plan.preset.id,
            "name": plan.preset.terms["name"],
            "version": plan.preset.version,
        },
        "dialects": [Dialect(each) for each in plan.dialects],
        "groups": await _groups(plan, aggregates, at, input_tokens),
    }


async def _groups(
    plan: Plan, aggregates: Finder, at: datetime, input_tokens: int | None
) -> list[PlannedGroup]:
    return [
        {
            "targets": [
                await _target(each, aggregates, at, input_tokens) for each in group
            ]
        }
        for group in plan.groups
    ]


async def _target(
    planned: PlannedTarget, aggregates: Finder, at: datetime, input_tokens: int | None
) -> PlannedTargetResource:
    target, settings = planned.target, planned.connection.settings
    price = await effective_price(
        provider=settings["provider"],
        model=target["model"],
        at=at,
        catalog=aggregates,
    )
    return {
        "connection_id": target["connection_id"],
        "connection": settings["name"],
        "provider": settings["provider"],
        "model": target["model"],
        "weight": target["weight"],
        "context_window": target["context_window"],
        "problem": planned.problem,
        "fits": None if input_tokens is None else planned.fits(input_tokens),
        "price": None if price is None else _price(price, input_tokens or 0),
    }


def _price(price: EffectivePrice, input_tokens: int) -> ModelPriceResource:
    return {
        "input_price_per_1m": price.per_1m("input_tokens", input_tokens),
        "output_price_per_1m": price.per_1m("output_tokens", input_tokens),
        "cache_creation_price_per_1m": price.per_1m("cache_write_tokens", input_tokens),
        "cache_read_price_per_1m": price.per_1m("cache_read_tokens", input_tokens),
        "currency": price.currency,
        "priced_as": price.priced_as,
        "price_id": price.price_id,
        "contract_id": price.contract_id,
    }


def route_problems(
    terms: RoutingTerms,
    registry: Mapping[str, str],
    problems: Mapping[str, RoutingProblem | None],
) -> Iterator[RouteProblem]:
    """Yield the routes by which nothing can be called; ``problems`` are of presets."""
    for route in terms["routes"]:
        preset_id = target_of(route, terms, registry).preset_id
        problem = problems[preset_id] if preset_id else RoutingProblem.UNKNOWN_TIER
        if problem is not None:
            yield {"model": route["model"], "problem": problem}


def routed_name(
    model: str,
    terms: RoutingTerms,
    registry: Mapping[str, str],
    problems: Mapping[str, RoutingProblem | None],
) -> RoutedName:
    number = deciding_route(model, terms)
    if number is None:
        return {"preset_id": None, "tier": None, "problem": RoutingProblem.NO_ROUTE}
    found = target_of(terms["routes"][number], terms, registry)
    preset_id = found.preset_id
    return {
        "preset_id": preset_id,
        "tier": found.tier and found.tier.name,
        "problem": problems[preset_id] if preset_id else RoutingProblem.UNKNOWN_TIER,
    }


def changed_names(
    models: Iterable[str],
    before: RoutingTerms,
    after: RoutingTerms,
    registry: Mapping[str, str],
    problems: Mapping[str, RoutingProblem | None],
) -> Iterator[ChangedName]:
    """Yield those of some names that would lead elsewhere, in the order given."""
    for model in models:
        was = routed_name(model, before, registry, problems)
        is_now = routed_name(model, after, registry, problems)
        # By which tier it gets there makes no difference to a call.
        if (was["preset_id"], was["problem"]) != (
            is_now["preset_id"],
            is_now["problem"],
        ):
            yield {"model": model, "before": was, "after": is_now}
