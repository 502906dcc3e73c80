"""Tiers and agents' routing over HTTP: now or then, and why a name leads somewhere."""

from typing import Annotated
from uuid import UUID

from aiohttp import web
from pydantic import Field

from projections.engine.snapshot import reading
from projections.model_gateway.access import log_at, seen_agent
from projections.model_gateway.explanation import (
    RoutingExplanation,
    explain_model,
)
from service.http.as_of import At, AtQuery
from service.http.envelope import Answer
from service.http.log_epoch import POSITION_HEADER
from service.http.operation import Routes
from service.http.replays import BUSY, in_turn, in_turn_if_past
from service.http.requests import QueryModel
from service.model_gateway.routing.aggregate import ModelRouting
from service.model_gateway.routing.resource import (
    RoutingResource,
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
        explanation = await explain_model(
            then,
            snapshot.db,
            agent_id,
            agent,
            query.model,
            at=query.at,
            input_tokens=query.input_tokens,
        )
    return Answer(
        message="routing explained",
        data=explanation,
        headers={POSITION_HEADER: str(then.position)},
    )
