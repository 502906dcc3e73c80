"""Admit a call, or refuse it, or ask a person: command and handler."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID, uuid4

from service.connectors.aggregate import Connector
from service.event_log.unit_of_work import UnitOfWork
from service.gateway.approvals.aggregate import PENDING_MAX, Approvals
from service.gateway.approvals.entries import OPEN, ApprovalState
from service.gateway.approvals.sealing import seal_arguments
from service.gateway.authenticate import valid_token
from service.gateway.calls.aggregate import ToolCall
from service.gateway.credentials import NamedSecret, find_secret
from service.gateway.decision import Decision
from service.gateway.definitions.aggregate import StoredDefinition
from service.gateway.facts import Finder, find_facts
from service.gateway.gate import Call, Caller, Pending, RefusalReason, Refused
from service.gateway.tokens.aggregate import AgentToken
from service.identifiers import id_text
from service.keys.key_ring import KeyRing
from service.keys.vault import Vault
from service.tool_rules.decision import Stance

UNKNOWN_TOOL: Final = "unknown tool"
CLOSED: Final = {
    ApprovalState.REFUSED: RefusalReason.APPROVAL_REFUSED,
    ApprovalState.WITHDRAWN: RefusalReason.APPROVAL_WITHDRAWN,
}
MESSAGES: Final = {
    RefusalReason.CREDENTIAL_MISSING: (
        "the credential for this tool is missing or can't be used"
    ),
    RefusalReason.TOO_MANY_APPROVALS: (
        f"{PENDING_MAX} calls of this agent await a person already; try again later"
    ),
    RefusalReason.APPROVAL_EXPIRED: (
        "nobody approved this call in time, or the approval was not used in time; "
        "call again to ask anew"
    ),
    RefusalReason.APPROVAL_REFUSED: "a person refused this call",
    RefusalReason.APPROVAL_WITHDRAWN: "a person withdrew the approval of this call",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmitCall:
    caller: Caller
    call: Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """A call that may be forwarded, with what it is forwarded by."""

    call_id: UUID
    connector: Connector
    secret: NamedSecret | None
    decision: Decision
    definition: StoredDefinition
    versions: Mapping[str, int]
    # None where the call isn't recorded by an event of its own.
    call: ToolCall | None = None


Verdict = Admission | Refused | Pending


def refused(reason: RefusalReason, detail: str | None = None) -> Refused:
    """Return a refusal with the agent's message.

    Of a tool that the agent may not know of, it says nothing.
    """
    message = UNKNOWN_TOOL if reason.hides_the_tool else MESSAGES[reason]
    return Refused(reason=reason, message=f"{message}: {detail}" if detail else message)


async def decide_call(command: AdmitCall, finder: Finder) -> Admission | Refused:
    """Decide on a call by token, rules, grant, definition and credential.

    An admission with the stance ``ask`` still needs an approval.
    """
    caller, call = command.caller, command.call
    facts = await find_facts(finder, caller.agent_id, call.connector_id)
    if not facts.lists(call.tool):
        # No rule is matched with a name that may be anything.
        return refused(RefusalReason.UNKNOWN_TOOL)
    decision = await facts.decide_quickly(call.tool)
    if decision.refusal is not None:
        return refused(decision.refusal)
    connector, definition = facts.connector, decision.definition
    assert connector is not None, "an agent holds only what exists"
    assert definition is not None, "a tool without a definition is refused"
    secret = await find_secret(
        finder, connector, agent_id=caller.agent_id, user_id=caller.user_id
    )
    if secret is None and connector.credential is not None:
        return refused(RefusalReason.CREDENTIAL_MISSING)
    return Admission(
        call_id=uuid4(),
        connector=connector,
        secret=secret,
        decision=decision,
        definition=definition,
        versions=facts.versions,
    )


async def admit_call(
    command: AdmitCall, work: UnitOfWork, *, key_ring: KeyRing, vault: Vault
) -> Verdict:
    """Decide on a call, and record its admission or the question to a person.

    All that it reads is checked when it is appended: token, user, agent, grant, rules,
    definition and secret.

    :raises UnauthenticatedError: the token is no longer valid
    """
    caller, call = command.caller, command.call
    token = await valid_token(work, caller, work.at)
    decided = await decide_call(command, work)
    if isinstance(decided, Refused):
        return decided
    approval_id: UUID | None = None
    arguments_digest = _digest(key_ring, caller, call, "").hex()
    if decided.decision.stance is Stance.ASK:
        approval_id = await _continue(command, work, decided, arguments_digest)
    if decided.decision.stance is Stance.ASK and approval_id is None:
        digest = _digest(key_ring, caller, call, decided.definition["digest"])
        approval_id = UUID(bytes=digest[:16], version=4)
        answer = await _use_approval(command, work, approval_id, decided.call_id)
        if answer is None:
            return await _ask(command, work, approval_id, decided, token, vault)
        if not isinstance(answer, UUID):
            return answer
    admitted = ToolCall(
        id=decided.call_id,
        agent_id=id_text(caller.agent_id),
        token_id=id_text(caller.token_id),
        user_id=id_text(caller.user_id) if caller.user_id else None,
        connector_id=id_text(call.connector_id),
        tool=call.tool,
        definition=decided.definition["digest"],
        stance=decided.decision.stance.value,
        rule=decided.decision.rule,
        approval_id=str(approval_id) if approval_id else None,
        session_id=call.session_id,
        trace_id=call.trace_id,
        versions={**decided.versions, "tokens": token.of_version},
        arguments_digest=arguments_digest,
        secret=decided.secret.used if decided.secret else None,
    )
    work.save(admitted)
    return replace(decided, call=admitted)


async def _continue(
    command: AdmitCall, work: UnitOfWork, decided: Admission, arguments_digest: str
) -> UUID | None:
    """Make the call the next round of an approved one, and return that approval's id.

    None if it needs one of its own. A round is continued once, at its expected version:
    a client that repeats its answer is asked about again.
    """
    if command.call.continues is None:
        return None
    before = await work.find(ToolCall, command.call.continues)
    definition = decided.definition["digest"]
    if (
        before is None
        or before.approval_id is None
        or not before.is_followed_by(
            arguments_digest=arguments_digest, definition=definition
        )
    ):
        return None
    before.continue_in(next_call_id=str(decided.call_id))
    work.save(before)
    return UUID(before.approval_id)


async def _use_approval(
    command: AdmitCall, work: UnitOfWork, approval_id: UUID, call_id: UUID
) -> UUID | Refused | Pending | None:
    """Use an approval for a call, and return its id; None if nobody was asked yet.

    It is used in the append that admits the call, at its expected version: two calls
    can't both use it.
    """
    agent_id = command.caller.agent_id
    approvals = await work.find(Approvals, Approvals.id_for(agent_id))
    state = approvals.state_of(approval_id, work.at) if approvals else None
    entry = approvals.entry(approval_id) if approvals else None
    if approvals is None or entry is None:
        return None
    match state:
        case ApprovalState.APPROVED:
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
    command: AdmitCall,
    work: UnitOfWork,
    approval_id: UUID,
    decided: Admission,
    token: AgentToken,
    vault: Vault,
) -> Refused | Pending:
    """Ask a person; the arguments are sealed beside the log, for that person to see."""
    caller, call = command.caller, command.call
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
        connector_id=call.connector_id,
        tool=call.tool,
        definition=decided.definition["digest"],
        sealed_id=await seal_arguments(
            work, vault, call.arguments, approval_id, sealed_for
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


def _digest(key_ring: KeyRing, caller: Caller, call: Call, definition: str) -> bytes:
    """Return what recognises the same call: by agent, token, tool and arguments."""
    return key_ring.call_digest(
        caller.agent_id.bytes,
        caller.token_id.bytes,
        call.connector_id.bytes,
        call.tool.encode(),
        definition.encode(),
        call.arguments,
    )
