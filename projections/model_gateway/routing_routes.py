"""Tiers and agents' routing over HTTP: now or then, and why a name leads somewhere."""

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from aiohttp import web
from pydantic import Field
from typing_extensions import TypedDict

from projections.engine.origins import Origin, origins_at
from projections.engine.snapshot import reading
from projections.engine.time_travel import AsOf
from projections.model_gateway.access import log_at, seen_agent
from service.agents.aggregate import Agent
from service.aggregate import LoggedAggregate
from service.database import Db
from service.event_log import aggregate_reader
from service.http.as_of import At, AtQuery
from service.http.envelope import Answer, UuidText
from service.http.log_epoch import POSITION_HEADER
from service.http.operation import Routes
from service.http.replays import BUSY, in_turn, in_turn_if_past
from service.http.requests import QueryModel
from service.model_gateway.presets.aggregate import ModelPreset
from service.model_gateway.routing.aggregate import ModelRouting
from service.model_gateway.routing.decision import (
    RoutingProblem,
    matching_routes,
    target_of,
)
from service.model_gateway.routing.resource import (
    RouteResource,
    RoutingResource,
    route_resource,
    routing_resource,
)
from service.model_gateway.routing.terms import NO_ROUTES
from service.model_gateway.tiers.aggregate import ModelTiers
from service.model_gateway.tiers.resource import TierRegistry

router_routes = Routes("llm-router")
routes = Routes("agents")

MODEL_CHARACTERS_MAX = 256
INPUT_TOKENS_MAX = 100_000_000
NO_SUCH_AGENT = "no such agent, or none that the caller can see"
FOLLOWER = "model_gateway"


class ExplainModelQuery(QueryModel):
    model: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MODEL_CHARACTERS_MAX,
            description="The name of a model as the client sends it.",
        ),
    ]
    input_tokens: Annotated[
        int | None,
        Field(
            ge=0,
            le=INPUT_TOKENS_MAX,
            description="The length of a prompt, to say which targets it fits.",
        ),
    ] = None
    at: At | None = None


class RoutingAtPosition(RoutingResource):
    """The routing as of a position of the log."""

    position: int


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


@router_routes.get(
    "/api/llm-router/tiers", answers={200: "tiers", **BUSY}, min_position=True
)
@in_turn_if_past
async def get_tiers(request: web.Request, query: AtQuery) -> Answer[TierRegistry]:
    """Read the registry of tiers, now or as of an earlier position or time.

    For everybody who can sign in.
    """
    async with reading(request, FOLLOWER) as snapshot:
        then = await log_at(request, snapshot.db, query.at)
        registry = await then.find(ModelTiers, ModelTiers.create_id())
    version = registry.version if registry else 0
    return Answer(
        message="tiers",
        data={
            "version": version,
            "position": then.position,
            "tiers": registry.tiers if registry else {},
        },
        etag=version,
        headers={POSITION_HEADER: str(then.position)},
    )


@routes.get(
    "/api/agents/{agent_id}/llm-routing",
    answers={200: "routing", 404: NO_SUCH_AGENT, **BUSY},
    min_position=True,
)
@in_turn_if_past
async def get_model_routing(
    request: web.Request, agent_id: UUID, query: AtQuery
) -> Answer[RoutingAtPosition]:
    """Read the routing of an agent's model calls, now or as of an earlier time.

    For everyone who sees the agent.
    """
    async with reading(request, FOLLOWER) as snapshot:
        then, _ = await seen_agent(request, snapshot.db, agent_id, query.at)
        routing = await then.find(ModelRouting, ModelRouting.id_for(agent_id))
    version = routing.version if routing else 0
    terms = routing.terms if routing else NO_ROUTES
    return Answer(
        message="routing",
        data={
            **routing_resource(agent_id, version, terms),
            "position": then.position,
        },
        etag=version,
        headers={POSITION_HEADER: str(then.position)},
    )


@routes.get(
    "/api/agents/{agent_id}/llm-routing/explain",
    answers={200: "routing explained", 404: NO_SUCH_AGENT, **BUSY},
    min_position=True,
)
@in_turn
async def get_model_routing_explanation(
    request: web.Request, agent_id: UUID, query: ExplainModelQuery
) -> Answer[RoutingExplanation]:
    """Explain where a name of a model leads, now or as of an earlier time.

    For everyone who sees the agent. Lists every route with whether it matched and
    whether it decided, the tier, the preset with its version and targets, and the
    prices as they were known then.
    """
    async with reading(request, FOLLOWER) as snapshot:
        then, agent = await seen_agent(request, snapshot.db, agent_id, query.at)
        explanation = await _explain(then, snapshot.db, agent_id, agent, query)
    return Answer(
        message="routing explained",
        data=explanation,
        headers={POSITION_HEADER: str(then.position)},
    )


async def _explain(
    then: AsOf, db: Db, agent_id: UUID, agent: Agent | None, query: ExplainModelQuery
) -> RoutingExplanation:
    routing = await then.find(ModelRouting, ModelRouting.id_for(agent_id))
    registry = await then.find(ModelTiers, ModelTiers.create_id())
    terms = routing.terms if routing else NO_ROUTES
    matched = [*matching_routes(query.model, terms)]
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
            at=await _moment(db, query.at),
            input_tokens=query.input_tokens,
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
        "model": query.model,
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
