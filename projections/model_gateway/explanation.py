"""Why a name of a model leads somewhere, now or then."""

from datetime import UTC, datetime
from uuid import UUID

from typing_extensions import TypedDict

from projections.engine.origins import Origin, origins_at
from projections.engine.time_travel import AsOf
from service.agents.aggregate import Agent
from service.aggregate import LoggedAggregate
from service.database import Db
from service.event_log import aggregate_reader
from service.http.envelope import UuidText
from service.model_gateway.presets.aggregate import ModelPreset
from service.model_gateway.routing.aggregate import ModelRouting
from service.model_gateway.routing.decision import (
    RoutingProblem,
    matching_routes,
    target_of,
)
from service.model_gateway.routing.resource import RouteResource, route_resource
from service.model_gateway.routing.terms import NO_ROUTES
from service.model_gateway.tiers.aggregate import ModelTiers


class ExplainedRoute(TypedDict):
    """A route; the first that matches the name is the decisive one."""

    model: str
    preset_id: UuidText | None
    tier: str | None
    matched: bool
    decisive: bool


class RoutingExplanation(TypedDict):
    """Where a name of a model leads, with what that is based on.

    ``problem`` says why it can't be called, null if it can. ``leads_to`` is the
    decisive route with preset, targets and the prices of then; null without a route.
    ``routing_since`` is the event that last changed the routing, ``preset_since`` the
    preset or its grants, ``tiers_since`` the registry: null where there is none.
    """

    agent_id: UUID
    model: str
    position: int
    version: int
    problem: RoutingProblem | None
    routes: list[ExplainedRoute]
    leads_to: RouteResource | None
    routing_since: Origin | None
    tiers_since: Origin | None
    preset_since: Origin | None


async def explain_model(
    then: AsOf,
    db: Db,
    agent_id: UUID,
    agent: Agent | None,
    model: str,
    *,
    at: int | datetime | None,
    input_tokens: int | None = None,
) -> RoutingExplanation:
    """Explain where a name of a model leads, by the log and the prices of a moment."""
    routing = await then.find(ModelRouting, ModelRouting.id_for(agent_id))
    registry = await then.find(ModelTiers, ModelTiers.create_id())
    terms = routing.terms if routing else NO_ROUTES
    matched = [*matching_routes(model, terms)]
    leads_to: RouteResource | None = None
    problem: RoutingProblem | None = RoutingProblem.NO_ROUTE
    preset: ModelPreset | None = None
    if matched:
        route = terms["routes"][matched[0]]
        target = target_of(route, terms, registry.tiers if registry else {})
        leads_to = await route_resource(
            route,
            target,
            agent_id=agent_id,
            aggregates=then,
            at=await _moment(db, at),
            input_tokens=input_tokens,
        )
        problem = leads_to["problem"]
        # What an agent may not call, it learns nothing of.
        if target.preset_id is not None and leads_to["preset"] is not None:
            preset = await then.find(ModelPreset, UUID(target.preset_id))
    if agent is not None and agent.is_retired:
        problem = RoutingProblem.AGENT_RETIRED
    based_on = (routing, registry, preset)
    positions = [await _position_of(db, each) for each in based_on]
    origins = await origins_at(db, positions)
    since = [origins.get(each or 0) for each in positions]
    return {
        "agent_id": agent_id,
        "model": model,
        "position": then.position,
        "version": routing.version if routing else 0,
        "problem": problem,
        "routes": [
            {
                **route,
                "matched": number in matched,
                "decisive": matched[:1] == [number],
            }
            for number, route in enumerate(terms["routes"])
        ],
        "leads_to": leads_to,
        "routing_since": since[0],
        "tiers_since": since[1],
        "preset_since": since[2],
    }


async def _moment(db: Db, at: int | datetime | None) -> datetime:
    """Return the time whose prices count; one in the future is now."""
    now = datetime.now(UTC)
    if isinstance(at, datetime):
        return min(at, now)
    origin = None if at is None else (await origins_at(db, [at])).get(at)
    return origin["recorded_at"] if origin else now


async def _position_of(db: Db, aggregate: LoggedAggregate | None) -> int | None:
    if aggregate is None:
        return None
    return await aggregate_reader.position_of(db, aggregate.id, aggregate.version)
