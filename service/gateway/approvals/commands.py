"""Decide on the calls that agents ask for: commands and handlers."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from uuid import UUID

from service.agents.aggregate import Agent
from service.connectors.aggregate import Connector
from service.errors import ConflictError, NotFoundError
from service.event_log.unit_of_work import UnitOfWork
from service.gateway.approvals.aggregate import Approvals
from service.gateway.approvals.entries import ApprovalEntry, ApprovalState
from service.gateway.approvals.policy import may_decide


class Verb(StrEnum):
    APPROVE = "approve"
    REFUSE = "refuse"
    WITHDRAW = "withdraw"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecideApproval:
    """``valid_for`` is for how long an approved call may be made."""

    agent_id: UUID
    approval_id: UUID
    verb: Verb
    reason: str | None
    valid_for: timedelta = timedelta(minutes=15)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadApproval:
    agent_id: UUID
    approval_id: UUID


async def decide_approval(
    command: DecideApproval, work: UnitOfWork
) -> tuple[UUID, ApprovalEntry]:
    """Approve or refuse a call, or withdraw its approval; return what is known of it.

    :raises NotFoundError: there is no such approval, or none that the caller can see
    :raises ConflictError: it was decided on, used or withdrawn, or has expired
    """
    approvals, entry = await _visible(work, command.agent_id, command.approval_id)
    work.match(approvals, version=entry["version"])
    state = approvals.state_of(command.approval_id, work.at)
    if state is ApprovalState.EXPIRED:
        raise ConflictError("this approval has expired", code="approval_expired")
    approval_id, reason = command.approval_id, command.reason
    by = work.principal.user_id
    match command.verb:
        case Verb.APPROVE:
            until = work.at + command.valid_for
            approvals.approve(approval_id, by=by, reason=reason, until=until)
        case Verb.REFUSE:
            approvals.refuse(approval_id, by=by, reason=reason)
        case Verb.WITHDRAW:
            approvals.withdraw(approval_id, by=by, reason=reason)
    work.save(approvals)
    return command.agent_id, approvals.entries[str(command.approval_id)]


async def read_approval(
    command: ReadApproval, work: UnitOfWork
) -> tuple[ApprovalEntry, ApprovalState | None]:
    """Return an approval whose arguments are about to be shown, which is recorded.

    :raises NotFoundError: there is no such approval, or none that the caller can see
    """
    approvals, entry = await _visible(work, command.agent_id, command.approval_id)
    if entry["sealed_id"] is not None:
        approvals.read_arguments(command.approval_id)
        work.save(approvals)
    return entry, approvals.state_of(command.approval_id, work.at)


async def _visible(
    work: UnitOfWork, agent_id: UUID, approval_id: UUID
) -> tuple[Approvals, ApprovalEntry]:
    """Load an approval that exists for the caller.

    :raises NotFoundError: the same for none, a closed one and an invisible one
    """
    agent = await work.find(Agent, agent_id)
    approvals = await work.find(Approvals, Approvals.id_for(agent_id))
    entry = approvals.entry(approval_id) if approvals else None
    connector = (
        await work.find(Connector, UUID(entry["connector_id"])) if entry else None
    )
    if (
        approvals is None
        or entry is None
        or not may_decide(work.principal, agent, connector)
    ):
        raise NotFoundError("no such approval")
    return approvals, entry
