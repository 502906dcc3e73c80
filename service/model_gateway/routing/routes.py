"""An agent's routing over HTTP: replacing and restoring it, and what it leads to."""

from uuid import UUID

from aiohttp import web
from typing_extensions import TypedDict

from service.agents.commands import visible_agent
from service.event_log.unit_of_work import UnitOfWork
from service.http.app_keys import EVENT_LOG
from service.http.as_of import Moment
from service.http.dispatch import dispatch, execute_for
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.replays import BUSY, turn_of
from service.model_gateway.routing.aggregate import ModelRouting
from service.model_gateway.routing.body import RoutingBody
from service.model_gateway.routing.commands import (
    ReplacedRouting,
    ReplaceRouting,
    RestoreRouting,
    replace_routing,
    restore_routing,
)
from service.model_gateway.routing.decision import RoutingProblem, target_of
from service.model_gateway.routing.resource import (
    RouteProblem,
    RouteResource,
    RoutingResource,
    route_problems,
    route_resource,
    routing_resource,
)
from service.model_gateway.routing.terms import NO_ROUTES, RoutingTerms
from service.model_gateway.tiers.aggregate import ModelTiers

routes = Routes(
    "agents", "How the model calls of an agent are routed: which preset answers them."
)

NO_SUCH_AGENT = "no such agent, or none that the caller can see"
NOT_MANAGER = "the caller doesn't manage this agent"
RETIRED = "the agent is retired (`agent_retired`)"
UNKNOWN = (
    "it names a preset that doesn't exist or isn't granted to the agent "
    "(`unknown_preset`), or a tier that doesn't exist (`unknown_tier`)"
)
EXAMPLE = {
    "routes": [
        {"model": "claude-haiku-*", "tier": "fast"},
        {"model": "*", "preset_id": "9b2d0b0a-4a53-4d0e-a5a8-0f6f3a9f1d11"},
    ],
    "tiers": {},
}


class ReplacedRoutingResource(RoutingResource):
    """The routing; by the routes in ``problems`` nothing can be called now."""

    problems: list[RouteProblem]


class RestoredRouting(ReplacedRoutingResource):
    """The routing after the restore, and the log position that it is restored from.

    ``left_out`` are the routes and tiers of then whose presets the agent may not call
    any more, or whose tier is gone.
    """

    position: int
    left_out: RoutingTerms


class CallableModels(TypedDict):
    """Every route of an agent, and what it leads to now.

    ``version`` is that of its routing. A route with a ``problem`` can't be called.
    """

    agent_id: UUID
    version: int
    models: list[RouteResource]


@routes.put(
    "/api/agents/{agent_id}/llm-routing",
    answers={
        200: "routing replaced, or agent already had this routing",
        403: NOT_MANAGER,
        404: NO_SUCH_AGENT,
        409: RETIRED,
        422: UNKNOWN,
    },
    if_match=True,
    body_example=EXAMPLE,
)
async def put_model_routing(
    request: web.Request, agent_id: UUID, body: RoutingBody
) -> Answer[ReplacedRoutingResource]:
    """Replace the routing of an agent's model calls.

    Requires full management of the agent. The first route that matches the name of a
    model says which preset answers; a name without a route can't be called. Each preset
    must be public or granted to the agent, and stays its owner's to take back.
    """

    def present(replaced: ReplacedRouting) -> Answer[ReplacedRoutingResource]:
        return Answer(
            message=(
                "routing replaced"
                if replaced.has_changed
                else "agent already had this routing"
            ),
            data=_resource(replaced),
            etag=replaced.version,
        )

    command = ReplaceRouting(agent_id=agent_id, terms=body.terms)
    return await dispatch(request, replace_routing, command, present)


@routes.post(
    "/api/agents/{agent_id}/llm-routing/restore",
    answers={
        200: "routing restored, or agent already had this routing",
        403: NOT_MANAGER,
        404: NO_SUCH_AGENT,
        409: RETIRED,
        422: "a position beyond the end of the log",
        **BUSY,
    },
    if_match=True,
    body_example={"at": 42},
)
async def post_model_routing_restore(
    request: web.Request, agent_id: UUID, body: Moment
) -> Answer[RestoredRouting]:
    """Restore an agent's routing of an earlier position or time.

    Requires full management of the agent. Recorded as a new change. What the agent may
    not call any more is left out, as `left_out` says.
    """
    # What was is the same at each attempt.
    async with turn_of(request):
        log = request.config_dict[EVENT_LOG]
        then, position = await log.load_past(ModelRouting.id_for(agent_id), body.at)
    terms = then.terms if isinstance(then, ModelRouting) else NO_ROUTES

    def present(replaced: ReplacedRouting) -> Answer[RestoredRouting]:
        return Answer(
            message=(
                "routing restored"
                if replaced.has_changed
                else "agent already had this routing"
            ),
            data={
                **_resource(replaced),
                "position": position,
                "left_out": _without(terms, replaced.after),
            },
            etag=replaced.version,
        )

    command = RestoreRouting(agent_id=agent_id, terms=terms)
    return await dispatch(request, restore_routing, command, present)


@routes.get(
    "/api/agents/{agent_id}/llm-routing/models",
    answers={200: "models of the agent", 404: NO_SUCH_AGENT},
)
async def get_agent_models(
    request: web.Request, agent_id: UUID
) -> Answer[CallableModels]:
    """List the models that an agent could call now, with their prices.

    For everyone who sees the agent. Each route of its routing in order, with the preset
    and the targets that it leads to, or why it can't be called.
    """
    models, _ = await execute_for(request, _callable_models, agent_id)
    return Answer(message="models of the agent", data=models, etag=models["version"])


async def _callable_models(agent_id: UUID, work: UnitOfWork) -> CallableModels:
    agent = await visible_agent(work, agent_id)
    routing = await work.find(ModelRouting, ModelRouting.id_for(agent_id))
    registry = await work.find(ModelTiers, ModelTiers.create_id())
    terms = routing.terms if routing else NO_ROUTES
    models = [
        await route_resource(
            route,
            target_of(route, terms, registry.tiers if registry else {}),
            agent_id=agent_id,
            aggregates=work,
            at=work.at,
        )
        for route in terms["routes"]
    ]
    if agent.is_retired:
        models = [{**each, "problem": RoutingProblem.AGENT_RETIRED} for each in models]
    return {
        "agent_id": agent_id,
        "version": routing.version if routing else 0,
        "models": models,
    }


def _resource(replaced: ReplacedRouting) -> ReplacedRoutingResource:
    problems = route_problems(replaced.after, replaced.registry, replaced.problems)
    return {
        **routing_resource(replaced.agent_id, replaced.version, replaced.after),
        "problems": [*problems],
    }


def _without(terms: RoutingTerms, kept: RoutingTerms) -> RoutingTerms:
    """Return the part of a routing that isn't kept."""
    return {
        "routes": [each for each in terms["routes"] if each not in kept["routes"]],
        "tiers": {
            tier: preset
            for tier, preset in terms["tiers"].items()
            if tier not in kept["tiers"]
        },
    }
