"""Model calls over HTTP: a list, and one call with the reasons for its target."""

from typing import Annotated, Literal
from uuid import UUID

from aiohttp import web
from pydantic import Field
from typing_extensions import TypedDict

from projections.engine.paging import page_of
from projections.engine.snapshot import reading
from projections.model_gateway.access import seen_agent
from projections.model_gateway.calls.queries import (
    ModelCallResource,
    Outcome,
    model_call_seen,
    model_calls_seen,
)
from projections.model_gateway.explanation import RoutingExplanation, explain_model
from service.database import Db
from service.errors import NotFoundError
from service.http.authentication import PRINCIPAL
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.replays import BUSY, in_turn
from service.http.requests import POSITION_MAX, QueryModel
from service.http.times import Timestamp

routes = Routes("llm-router")

FOLLOWERS = ("model_calls", "model_gateway", "agents")
Text = Annotated[str | None, Field(min_length=1, max_length=256)]


class ModelCallsQuery(QueryModel):
    limit: Annotated[int, Field(ge=1, le=100)] = 25
    after: Annotated[int | None, Field(ge=0, le=POSITION_MAX)] = None
    agent_id: UUID | None = None
    connection_id: UUID | None = None
    preset_id: UUID | None = None
    user_id: UUID | None = None
    model: Annotated[
        Text,
        Field(description="What the client has sent, or what a connection was asked."),
    ] = None
    decision: Literal["admitted", "refused"] | None = None
    outcome: Outcome | None = None
    session_id: Text = None
    trace_id: Text = None
    response_id: Annotated[Text, Field(description="The provider's.")] = None
    start_time: Timestamp | None = None
    end_time: Timestamp | None = None


class ModelCallList(TypedDict):
    calls: list[ModelCallResource]
    end_cursor: int | None


class ExplainedModelCall(ModelCallResource):
    """A call with where its name led when it was decided.

    `explanation` is null for a name that isn't on record, and for who doesn't see the
    agent.
    """

    explanation: RoutingExplanation | None


@routes.get("/api/llm-router/calls", answers={200: "model calls"}, min_position=True)
async def get_model_calls(
    request: web.Request, query: ModelCallsQuery
) -> Answer[ModelCallList]:
    """List model calls of agents, latest first.

    Those of agents that the caller manages, to connections that the caller owns, and
    those made for the caller; superusers and auditors see all. Refusals are listed too:
    equal ones within a second as one. No prompts or answers: the service has none.
    """
    principal = request[PRINCIPAL]
    async with reading(request, *FOLLOWERS) as snapshot:
        calls = await model_calls_seen(
            snapshot.db,
            caller=principal.user_id,
            everything=principal.sees_everything,
            **{**query.model_dump(), "limit": query.limit + 1},
        )
    page = page_of(calls, query.limit, lambda call: call["sort_key"])
    return Answer(
        message="model calls",
        data={
            "calls": [_without_place(each) for each in page.rows],  # type: ignore[misc]
            "end_cursor": page.end_cursor,
        },
        headers=snapshot.headers,
    )


@routes.get(
    "/api/llm-router/calls/{model_call_id}",
    answers={
        200: "model call",
        404: "no such call, or none that the caller can see",
        **BUSY,
    },
    min_position=True,
)
@in_turn
async def get_model_call(
    request: web.Request, model_call_id: UUID
) -> Answer[ExplainedModelCall]:
    """Get a model call, and why it went where it went.

    The explanation is of the position before the call's event: routes, tier, preset
    with its version and targets, and the prices as they were known then. For a call
    recorded in the mode `batched`, that is up to 100 ms after it was decided.
    """
    principal = request[PRINCIPAL]
    async with reading(request, *FOLLOWERS) as snapshot:
        call = await model_call_seen(
            snapshot.db,
            model_call_id,
            caller=principal.user_id,
            everything=principal.sees_everything,
        )
        if call is None:
            raise NotFoundError("no such call")
        explanation = await _explanation(request, snapshot.db, call)
    return Answer(
        message="model call",
        data={**_without_place(call), "explanation": explanation},  # type: ignore[typeddict-item]
        headers=snapshot.headers,
    )


async def _explanation(
    request: web.Request, db: Db, call: ModelCallResource
) -> RoutingExplanation | None:
    agent_id, model, at = call["agent_id"], call["asked_for"], call["position"] - 1
    if model is None:
        return None
    try:
        then, agent = await seen_agent(request, db, agent_id, at)
    except NotFoundError:
        return None
    return await explain_model(then, db, agent_id, agent, model, at=at)


def _without_place(row: object) -> dict[str, object]:
    assert isinstance(row, dict), "rows are dicts"
    return {name: value for name, value in row.items() if name != "sort_key"}
