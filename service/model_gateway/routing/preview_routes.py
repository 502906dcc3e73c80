"""Previewing an agent's routing over HTTP: nothing is changed."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final
from uuid import UUID

from aiohttp import web
from pydantic import Field
from typing_extensions import TypedDict

from service.event_log.unit_of_work import UnitOfWork
from service.http.dispatch import execute_for
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.rate_limit import RateLimit
from service.http.requests import QueryModel, if_match
from service.model_gateway.recorded_models import (
    RECORDED_MAX,
    RECORDED_MODELS,
    RecordedModel,
)
from service.model_gateway.routing.body import RoutingBody
from service.model_gateway.routing.commands import (
    ReplacedRouting,
    ReplaceRouting,
    decide_replacement,
)
from service.model_gateway.routing.resource import (
    ChangedName,
    RoutedName,
    RouteProblem,
    changed_names,
    route_problems,
)
from service.model_gateway.routing.routes import (
    EXAMPLE,
    NO_SUCH_AGENT,
    NOT_MANAGER,
    RETIRED,
    UNKNOWN,
)
from service.model_gateway.routing.terms import ModelRoute
from service.pacing import in_thread
from service.tool_rules.glob import has_wildcard

EXAMPLES_MAX: Final = 50
PREVIEWS: Final = RateLimit(burst=20, interval_s=1.0)

routes = Routes("agents")


class RoutingPreviewQuery(QueryModel):
    days: Annotated[
        int, Field(ge=1, le=90, description="Days of recorded calls to compare.")
    ] = 7


class ReroutedCalls(TypedDict):
    """Recorded calls of one model that would be answered by another preset."""

    model: str
    calls: int
    last_at: datetime
    before: RoutedName
    after: RoutedName


class PreviewedModelCalls(TypedDict):
    """The calls of the agent's recorded turns since a time, and those routed otherwise.

    By the model's name as it is recorded. ``is_complete`` is false if there were more
    models than are compared; then those called most are.
    """

    since: datetime
    calls: int
    changed: int
    is_complete: bool
    examples: list[ReroutedCalls]


class PreviewedRouting(TypedDict):
    """What a replacement would do; ``version`` is the current one, for If-Match.

    ``added`` and ``removed`` are routes; ``reordered`` says that the others stand in
    another order. ``names`` are those that the routes before and after spell out and
    that would lead elsewhere. By the routes in ``problems`` nothing could be called.
    """

    agent_id: UUID
    version: int
    added: list[ModelRoute]
    removed: list[ModelRoute]
    reordered: bool
    problems: list[RouteProblem]
    names: list[ChangedName]
    recorded: PreviewedModelCalls


@routes.post(
    "/api/agents/{agent_id}/llm-routing/preview",
    answers={
        200: "preview of the routing; nothing was changed",
        403: NOT_MANAGER,
        404: NO_SUCH_AGENT,
        409: RETIRED,
        422: UNKNOWN,
    },
    if_match=True,
    min_position=True,
    rate_limit=PREVIEWS,
    body_example=EXAMPLE,
)
async def post_model_routing_preview(
    request: web.Request,
    agent_id: UUID,
    query: RoutingPreviewQuery,
    body: RoutingBody,
) -> Answer[PreviewedRouting]:
    """Preview a replacement of an agent's routing; nothing is changed.

    Takes what the replacement takes, and refuses what that would refuse. Shows which
    names of models would lead to another preset, and how many of the recorded calls of
    the past `days` (7) they are.
    """
    (replaced, version), _ = await execute_for(
        request,
        _previewed,
        ReplaceRouting(agent_id=agent_id, terms=body.terms),
        if_match=if_match(request),
    )
    since = datetime.now(UTC) - timedelta(days=query.days)
    recorded = await request.app[RECORDED_MODELS].of_agent(request, agent_id, since)
    names, calls = await in_thread(_compared, replaced, recorded, since)
    before, after = replaced.before["routes"], replaced.after["routes"]
    added, removed = _missing(after, before), _missing(before, after)
    data: PreviewedRouting = {
        "agent_id": agent_id,
        "version": version,
        "added": added,
        "removed": removed,
        "reordered": _missing(before, removed) != _missing(after, added),
        "problems": [
            *route_problems(replaced.after, replaced.registry, replaced.problems)
        ],
        "names": names,
        "recorded": calls,
    }
    message = "preview of the routing; nothing was changed"
    return Answer(message=message, data=data, etag=version)


async def _previewed(
    command: ReplaceRouting, work: UnitOfWork
) -> tuple[ReplacedRouting, int]:
    """Decide on a replacement; return it, with the version that it is based on."""
    routing, replaced = await decide_replacement(command, work)
    return replaced, routing.version - len(routing.pending_events)


def _missing(
    routes: Sequence[ModelRoute], among: Sequence[ModelRoute]
) -> list[ModelRoute]:
    return [each for each in routes if each not in among]


def _compared(
    replaced: ReplacedRouting, recorded: Sequence[RecordedModel], since: datetime
) -> tuple[list[ChangedName], PreviewedModelCalls]:
    terms = (
        replaced.before,
        replaced.after,
        replaced.registry,
        replaced.problems,
    )
    spelled = {
        route["model"]: None
        for each in (replaced.before, replaced.after)
        for route in each["routes"]
        if not has_wildcard(route["model"])
    }
    compared = {each.model: each for each in recorded[:RECORDED_MAX]}
    changed: list[ReroutedCalls] = [
        {
            "calls": compared[each["model"]].calls,
            "last_at": compared[each["model"]].last_at,
            **each,
        }
        for each in changed_names(compared, *terms)
    ]
    calls: PreviewedModelCalls = {
        "since": since,
        "calls": sum(each.calls for each in compared.values()),
        "changed": sum(each["calls"] for each in changed),
        "is_complete": len(recorded) <= RECORDED_MAX,
        "examples": changed[:EXAMPLES_MAX],
    }
    return [*changed_names(spelled, *terms)], calls
