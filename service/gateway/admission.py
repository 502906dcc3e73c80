"""Admit a call, or prepare one that needs a connection first: handlers."""

from dataclasses import replace
from uuid import UUID

from service.event_log.unit_of_work import UnitOfWork
from service.gateway.asking import (
    approval_of,
    arguments_digest_of,
    call_before,
    continue_call,
)
from service.gateway.authenticate import valid_token
from service.gateway.calls.aggregate import ToolCall
from service.gateway.deciding import AdmitCall, Verdict, decide_call
from service.gateway.gate import Refused
from service.identifiers import id_text
from service.keys.key_ring import KeyRing
from service.keys.vault import Vault
from service.tool_rules.decision import Stance


async def admit_call(
    command: AdmitCall, work: UnitOfWork, *, key_ring: KeyRing, vault: Vault
) -> Verdict:
    """Decide on a call, and record its admission or the question to a person.

    All that it reads is checked when it is appended: token, user, agent, grant, rules,
    definition and secret.

    :raises MovedError: the connector has another URL than the command's
    :raises UnauthenticatedError: the token is no longer valid
    """
    caller, call = command.caller, command.call
    token = await valid_token(work, caller, work.at)
    decided = await decide_call(command, work)
    if isinstance(decided, Refused):
        return decided
    approval_id: UUID | None = None
    arguments_digest = arguments_digest_of(key_ring, caller, call, "").hex()
    if decided.decision.stance is Stance.ASK:
        before = await call_before(command, work, decided, arguments_digest)
        answer = (
            continue_call(before, work, decided)
            if before
            else await approval_of(command, work, decided, token, key_ring, vault)
        )
        if not isinstance(answer, UUID):
            return answer
        approval_id = answer
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


async def prepare_call(
    command: AdmitCall, work: UnitOfWork, *, key_ring: KeyRing, vault: Vault
) -> Verdict:
    """Decide on a call before there is a connection; an approval isn't used up.

    The question to a person is recorded, and nothing else.

    :raises UnauthenticatedError: the token is no longer valid
    """
    token = await valid_token(work, command.caller, work.at)
    decided = await decide_call(command, work)
    if isinstance(decided, Refused) or decided.decision.stance is not Stance.ASK:
        return decided
    digest = arguments_digest_of(key_ring, command.caller, command.call, "").hex()
    if await call_before(command, work, decided, digest) is not None:
        return decided
    answer = await approval_of(
        command, work, decided, token, key_ring, vault, is_used=False
    )
    return decided if isinstance(answer, UUID) else answer
