"""Deciding on agents' calls, over HTTP."""

from datetime import timedelta
from typing import Annotated
from uuid import UUID

from aiohttp import web
from pydantic import Field

from service.gateway.approvals.commands import (
    DecideApproval,
    ReadApproval,
    Verb,
    decide_approval,
    read_approval,
)
from service.gateway.approvals.entries import ApprovalEntry, ApprovalState
from service.gateway.approvals.resource import (
    ApprovalResource,
    ApprovalWithArguments,
    approval_resource,
)
from service.gateway.approvals.sealing import open_arguments
from service.http.app_keys import VAULT
from service.http.dispatch import dispatch, execute_for
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.requests import RequestModel

routes = Routes("mcp")

APPROVAL = "/api/mcp/agents/{agent_id}/approvals/{approval_id}"
NO_SUCH_APPROVAL = "no such open approval, or none that the caller can see"
DECIDED = (
    "it was decided on, used or withdrawn (`approval_not_pending`), or has expired "
    "(`approval_expired`)"
)

Reason = Annotated[
    str | None,
    Field(max_length=500, description="Reason, shown to the agent and recorded."),
]


class RefusalBody(RequestModel):
    reason: Reason = None


class ApprovalBody(RequestModel):
    reason: Reason = None
    valid_for_s: Annotated[
        int,
        Field(
            ge=60,
            le=86_400,
            description="For how long the call may be made, in seconds: from 60, a "
            "minute, to 86400, a day.",
        ),
    ] = 900


@routes.get(
    APPROVAL,
    answers={200: "approval", 404: NO_SUCH_APPROVAL},
    head=False,
)
async def get_approval(
    request: web.Request, agent_id: UUID, approval_id: UUID
) -> Answer[ApprovalWithArguments]:
    """Get the approval of a call, with the call's arguments.

    For the agent's managers, the connector's owner and superusers. That the arguments
    are shown is recorded first.
    """
    command = ReadApproval(agent_id=agent_id, approval_id=approval_id)
    (entry, state), _ = await execute_for(request, read_approval, command)
    shown = state or ApprovalState(entry["state"])
    return Answer(
        message="approval",
        data=ApprovalWithArguments(
            **approval_resource(agent_id, approval_id, entry, shown),
            arguments=await open_arguments(approval_id, entry, request.app[VAULT]),
        ),
        etag=entry["version"],
        headers={"Cache-Control": "no-store"},
    )


@routes.post(
    APPROVAL + "/approve",
    answers={200: "call approved", 404: NO_SUCH_APPROVAL, 409: DECIDED},
    if_match=True,
    body_example={"reason": "as agreed with support", "valid_for_s": 900},
)
async def post_approval_approve(
    request: web.Request, agent_id: UUID, approval_id: UUID, body: ApprovalBody
) -> Answer[ApprovalResource]:
    """Approve a call of an agent, once.

    For the agent's managers, the connector's owner and superusers. The agent makes the
    call by repeating it with the same arguments; everything else is decided again then.
    """
    command = DecideApproval(
        agent_id=agent_id,
        approval_id=approval_id,
        verb=Verb.APPROVE,
        reason=body.reason,
        valid_for=timedelta(seconds=body.valid_for_s),
    )
    return await _decide(request, command, "call approved")


@routes.post(
    APPROVAL + "/refuse",
    answers={200: "call refused", 404: NO_SUCH_APPROVAL, 409: DECIDED},
    if_match=True,
    body_example={"reason": "not before the release"},
)
async def post_approval_refuse(
    request: web.Request, agent_id: UUID, approval_id: UUID, body: RefusalBody
) -> Answer[ApprovalResource]:
    """Refuse a call of an agent.

    For the agent's managers, the connector's owner and superusers. The agent is told so
    until the question would have expired.
    """
    command = DecideApproval(
        agent_id=agent_id,
        approval_id=approval_id,
        verb=Verb.REFUSE,
        reason=body.reason,
    )
    return await _decide(request, command, "call refused")


@routes.post(
    APPROVAL + "/withdraw",
    answers={200: "approval withdrawn", 404: NO_SUCH_APPROVAL, 409: DECIDED},
    if_match=True,
    body_example={"reason": "approved by mistake"},
)
async def post_approval_withdraw(
    request: web.Request, agent_id: UUID, approval_id: UUID, body: RefusalBody
) -> Answer[ApprovalResource]:
    """Withdraw the approval of a call that was not made yet, or the question.

    For the agent's managers, the connector's owner and superusers. The agent is told
    so.
    """
    command = DecideApproval(
        agent_id=agent_id,
        approval_id=approval_id,
        verb=Verb.WITHDRAW,
        reason=body.reason,
    )
    return await _decide(request, command, "approval withdrawn")


async def _decide(
    request: web.Request, command: DecideApproval, message: str
) -> Answer[ApprovalResource]:
    def present(result: tuple[UUID, ApprovalEntry]) -> Answer[ApprovalResource]:
        agent_id, entry = result
        state = ApprovalState(entry["state"])
        return Answer(
            message=message,
            data=approval_resource(agent_id, command.approval_id, entry, state),
            etag=entry["version"],
        )

    return await dispatch(request, decide_approval, command, present)
