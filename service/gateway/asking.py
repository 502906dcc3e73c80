"""What a call that is asked about rests on: an approval, or a question to a person."""

from datetime import datetime
from uuid import UUID

from service.agent_tokens.aggregate import AgentToken
from service.event_log.unit_of_work import UnitOfWork
from service.gateway.approvals.aggregate import Approvals
from service.gateway.approvals.entries import OPEN, ApprovalState
from service.gateway.approvals.sealing import seal_arguments
from service.gateway.calls.aggregate import ToolCall
from service.gateway.deciding import CLOSED, DecidedCall, refused
from service.gateway.gate import CallRequest, Pending, RefusalReason, Refused
from service.keys.key_ring import KeyRing
from service.keys.vault import Vault


async def call_before(
    request: CallRequest, work: UnitOfWork, decided: DecidedCall, arguments_digest: str
) -> ToolCall | None:
    """Return the approved call that this one is the next round of.

    None if it needs an approval of its own.
    """
    if request.continues is None:
        return None
    before = await work.find(ToolCall, request.continues)
    definition = decided.definition["digest"]
    if (
        before is None
        or before.approval_id is None
        or not before.is_followed_by(
            arguments_digest=arguments_digest, definition=definition
        )
    ):
        return None
    return before


def continue_call(before: ToolCall, work: UnitOfWork, decided: DecidedCall) -> UUID:
    """Continue an approved call, and return its approval's id.

    A round is continued once, at its expected version: a client that repeats its
    answer is asked about again.
    """
    assert before.approval_id is not None, "it was approved"
    before.continue_in(decided.call_id)
    work.save(before)
    return UUID(before.approval_id)


async def approval_of(
    request: CallRequest,
    work: UnitOfWork,
    decided: DecidedCall,
    token: AgentToken,
    key_ring: KeyRing,
    vault: Vault,
    *,
    is_used: bool = True,
) -> UUID | Refused | Pending:
    """Return the approval of a call, which is used up by it; or ask for it."""
    digest = arguments_digest_of(key_ring, request, decided.definition["digest"])
    approval_id = UUID(bytes=digest[:16], version=4)
    call_id = decided.call_id if is_used else None
    answer = await _use_approval(request, work, approval_id, call_id)
    if answer is None:
        return await _ask(request, work, approval_id, decided, token, vault)
    return answer


async def _use_approval(
    request: CallRequest, work: UnitOfWork, approval_id: UUID, call_id: UUID | None
) -> UUID | Refused | Pending | None:
    """Use an approval for a call, and return its id; None if nobody was asked yet.

    It is used in the append that admits the call, at its expected version: two calls
    can't both use it. Without a call it isn't used.
    """
    agent_id = request.caller.agent_id
    approvals = await work.find(Approvals, Approvals.id_for(agent_id))
    state = approvals.state_of(approval_id, work.at) if approvals else None
    entry = approvals.entry(approval_id) if approvals else None
    if approvals is None or entry is None:
        return None
    match state:
        case ApprovalState.APPROVED:
            if call_id is not None:
                approvals.use(approval_id, call_id=call_id)
                work.save(approvals)
            return approval_id
        case ApprovalState.PENDING:
            until = datetime.fromisoformat(entry["expires_at"])
            return _pending(agent_id, approval_id, until)
        case ApprovalState.EXPIRED:
            if entry["state"] in OPEN:
                approvals.expire(approval_id)
            approvals.tell_expiry(approval_id)
            work.save(approvals)
            return refused(RefusalReason.APPROVAL_EXPIRED)
    return refused(CLOSED[state], entry["reason"]) if state else None


async def _ask(
    request: CallRequest,
    work: UnitOfWork,
    approval_id: UUID,
    decided: DecidedCall,
    token: AgentToken,
    vault: Vault,
) -> Refused | Pending:
    """Ask a person; the arguments are sealed beside the log, for that person to see."""
    caller = request.caller
    approvals = await work.find(
        Approvals, Approvals.id_for(caller.agent_id)
    ) or Approvals(agent_id=str(caller.agent_id))
    for overdue in approvals.overdue(work.at):
        approvals.expire(overdue)
    if approvals.is_full(work.at):
        work.save(approvals)
        return refused(RefusalReason.TOO_MANY_APPROVALS)
    sealed_for = caller.user_id or token.issued_by
    until = approvals.request(
        approval_id,
        token_id=caller.token_id,
        user_id=caller.user_id,
        connector_id=request.connector_id,
        tool=request.tool,
        definition=decided.definition["digest"],
        sealed_id=await seal_arguments(
            work, vault, request.arguments, approval_id, sealed_for
        ),
        sealed_for=sealed_for,
        at=work.at,
    )
    work.save(approvals)
    return _pending(caller.agent_id, approval_id, until)


def _pending(agent_id: UUID, approval_id: UUID, until: datetime) -> Pending:
    return Pending(
        agent_id=agent_id,
        approval_id=approval_id,
        until=until,
        message=(
            f"a person has to approve this call; it is pending until "
            f"{until.isoformat(timespec='seconds')}; call again with the same arguments"
        ),
    )


def arguments_digest_of(
    key_ring: KeyRing, request: CallRequest, definition: str
) -> bytes:
    """Return what recognises the same call: by agent, token, tool and arguments."""
    return key_ring.call_digest(
        request.caller.agent_id.bytes,
        request.caller.token_id.bytes,
        request.connector_id.bytes,
        request.tool.encode(),
        definition.encode(),
        request.arguments,
    )
