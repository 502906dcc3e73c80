"""Tool calls and approvals over HTTP: lists, and one call with its explanation."""

from datetime import UTC, datetime
from typing import Annotated, Literal
from uuid import UUID

from aiohttp import web
from pydantic import Field
from typing_extensions import TypedDict

from projections.engine.paging import page_of
from projections.engine.snapshot import lender, reading
from projections.engine.time_travel import reading_as_of
from projections.gateway.queries import (
    ListedApproval,
    Outcome,
    ToolCallResource,
    approvals_seen,
    call_seen,
    calls_seen,
)
from projections.tool_rules.access import sees_connector
from projections.tool_rules.explanation import (
    EXPLAINED_BY,
    Explanation,
    explain,
    facts_of,
)
from projections.tool_rules.projector import ToolRulesProjector
from service.errors import NotFoundError
from service.http.authentication import PRINCIPAL
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.replays import BUSY, in_turn
from service.http.requests import POSITION_MAX, QueryModel
from service.http.times import Timestamp

routes = Routes("mcp")

FOLLOWERS = ("gateway", "agents", "connectors")
Limit = Annotated[int, Field(ge=1, le=100)]
After = Annotated[int | None, Field(ge=0, le=POSITION_MAX)]
Text = Annotated[str | None, Field(min_length=1, max_length=256)]


class CallsQuery(QueryModel):
    limit: Limit = 25
    after: After = None
    agent_id: UUID | None = None
    connector_id: UUID | None = None
    user_id: UUID | None = None
    tool: Text = None
    decision: Literal["admitted", "refused"] | None = None
    outcome: Outcome | None = None
    session_id: Text = None
    trace_id: Text = None
    start_time: Timestamp | None = None
    end_time: Timestamp | None = None


class ApprovalsQuery(QueryModel):
    limit: Limit = 25
    after: After = None
    agent_id: UUID | None = None
    connector_id: UUID | None = None
    state: (
        Literal["pending", "approved", "refused", "withdrawn", "expired", "used"] | None
    ) = None


class ToolCallList(TypedDict):
    calls: list[ToolCallResource]
    end_cursor: int | None


class ApprovalList(TypedDict):
    approvals: list[ListedApproval]
    end_cursor: int | None


class ExplainedToolCall(ToolCallResource):
    """A call with the decision as it was made; null for a tool that isn't known."""

    explanation: Explanation | None


@routes.get("/api/mcp/calls", answers={200: "tool calls"}, min_position=True)
async def get_calls(request: web.Request, query: CallsQuery) -> Answer[ToolCallList]:
    """List tool calls of agents, latest first.

    Those of agents that the caller manages, of connectors that the caller owns, and
    those made for the caller; superusers and auditors see all. Refusals are listed too:
    equal ones within a second as one. No arguments or results: the service has none.
    """
    principal = request[PRINCIPAL]
    async with reading(request, *FOLLOWERS) as snapshot:
        calls = await calls_seen(
            snapshot.db,
            caller=principal.user_id,
            everything=principal.sees_everything,
            **{**query.model_dump(), "limit": query.limit + 1},
        )
    page = page_of(calls, query.limit, lambda call: call["sort_key"])
    return Answer(
        message="tool calls",
        data={
            "calls": [_without_place(each) for each in page.rows],  # type: ignore[misc]
            "end_cursor": page.end_cursor,
        },
        headers=snapshot.headers,
    )


@routes.get(
    "/api/mcp/calls/{call_id}",
    answers={
        200: "tool call",
        404: "no such call, or none that the caller can see",
        **BUSY,
    },
    min_position=True,
)
@in_turn
async def get_call(request: web.Request, call_id: UUID) -> Answer[ExplainedToolCall]:
    """Get a tool call, with the explanation of its decision as it was made.

    The explanation is of the position before the call's event; for a call recorded in
    the mode `batched`, up to 100 ms after it was decided.
    """
    principal = request[PRINCIPAL]
    async with reading(request, *FOLLOWERS) as snapshot:
        call = await call_seen(
            snapshot.db,
            call_id,
            caller=principal.user_id,
            everything=principal.sees_everything,
        )
        if call is None:
            raise NotFoundError("no such call")
    explanation = None
    if call["connector_id"] is not None and call["tool"] is not None:
        at = call["position"] - 1
        async with reading_as_of(
            request, at, *EXPLAINED_BY, of=ToolRulesProjector.events
        ) as (snapshot, then):
            facts = await facts_of(
                then,
                snapshot.db,
                agent_id=call["agent_id"],
                connector_id=call["connector_id"],
                tool=call["tool"],
                sees_connector=await sees_connector(
                    principal, call["connector_id"], db=snapshot.db
                ),
            )
        explanation = await explain(facts, lender(request, at))
    return Answer(
        message="tool call",
        data={**_without_place(call), "explanation": explanation},  # type: ignore[typeddict-item]
        headers=snapshot.headers,
    )


@routes.get("/api/mcp/approvals", answers={200: "approvals"}, min_position=True)
async def get_approvals(
    request: web.Request, query: ApprovalsQuery
) -> Answer[ApprovalList]:
    """List the approvals that agents ask for, latest first: the inbox.

    Those of agents that the caller manages, of connectors that the caller owns, and
    those of calls for the caller; superusers and auditors see all. Once for each time
    that a call was asked for. `state=pending` leaves those that wait for a person.
    """
    principal = request[PRINCIPAL]
    async with reading(request, *FOLLOWERS) as snapshot:
        approvals = await approvals_seen(
            snapshot.db,
            caller=principal.user_id,
            everything=principal.sees_everything,
            at=datetime.now(UTC),
            **{**query.model_dump(), "limit": query.limit + 1},
        )
    page = page_of(approvals, query.limit, lambda approval: approval["sort_key"])
    return Answer(
        message="approvals",
        data={
            "approvals": [_without_place(each) for each in page.rows],  # type: ignore[misc]
            "end_cursor": page.end_cursor,
        },
        headers=snapshot.headers,
    )


def _without_place(row: object) -> dict[str, object]:
    assert isinstance(row, dict), "rows are dicts"
    return {name: value for name, value in row.items() if name != "sort_key"}
