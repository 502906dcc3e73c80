"""Admit a call, or prepare one that needs a connection first: handlers."""

from dataclasses import replace
from uuid import UUID

from service.agent_tokens.authenticate import valid_token
from service.event_log.unit_of_work import UnitOfWork
from service.gateway.asking import (
    approval_of,
    arguments_digest_of,
    call_before,
    continue_call,
)
from service.gateway.calls.aggregate import ToolCall
from service.gateway.deciding import Verdict, decide_call
from service.gateway.gate import CallRequest, Refused
from service.identifiers import id_text
from service.keys.key_ring import KeyRing
from service.keys.vault import Vault
from service.tool_rules.decision import Stance


async def admit_call(
    request: CallRequest,
    work: UnitOfWork,
    *,
    url: str | None,
    key_ring: KeyRing,
    vault: Vault,
) -> Verdict:
    """Decide on a call, and record its admission or the question to a person.

    All that it reads is checked when it is appended: token, user, agent, grant, rules,
    definition and secret.

    :raises MovedError: the connector has another URL
    :raises UnauthenticatedError: the token is no longer valid
    """
    caller = request.caller
    token = await valid_token(work, caller, work.at)
    decided = await decide_call(request, work, url=url)
    if isinstance(decided, Refused):
        return decided
    approval_id: UUID | None = None
    arguments_digest = arguments_digest_of(key_ring, request, "").hex()
    if decided.decision.stance is Stance.ASK:
        before = await call_before(request, work, decided, arguments_digest)
        answer = (
            continue_call(before, work, decided)
            if before
            else await approval_of(request, work, decided, token, key_ring, vault)
        )
        if not isinstance(answer, UUID):
            return answer
        approval_id = answer
    admitted = ToolCall(
        id=decided.call_id,
        agent_id=id_text(caller.agent_id),
        token_id=id_text(caller.token_id),
        user_id=id_text(caller.user_id) if caller.user_id else None,
        connector_id=id_text(request.connector_id),
        tool=request.tool,
        definition=decided.definition["digest"],
        stance=decided.decision.stance.value,
        rule=decided.decision.rule,
        approval_id=str(approval_id) if approval_id else None,
        session_id=request.session_id,
        trace_id=request.trace_id,
        versions={**decided.versions, "tokens": token.of_version},
        arguments_digest=arguments_digest,
        secret=decided.secret.used if decided.secret else None,
    )
    work.save(admitted)
    return replace(decided, recorded=admitted)


async def prepare_call(
    request: CallRequest, work: UnitOfWork, *, key_ring: KeyRing, vault: Vault
) -> Verdict:
    """Decide on a call before there is a connection; an approval isn't used up.

    The question to a person is recorded, and nothing else.

    :raises UnauthenticatedError: the token is no longer valid
    """
    token = await valid_token(work, request.caller, work.at)
    decided = await decide_call(request, work)
    if isinstance(decided, Refused) or decided.decision.stance is not Stance.ASK:
        return decided
    digest = arguments_digest_of(key_ring, request, "").hex()
    if await call_before(request, work, decided, digest) is not None:
        return decided
    answer = await approval_of(
        request, work, decided, token, key_ring, vault, is_used=False
    )
    return decided if isinstance(answer, UUID) else answer
