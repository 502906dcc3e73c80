"""Decide on a call by what the log says, whether or not a person has to be asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid4

from service.connectors.aggregate import Connector
from service.event_log.finder import Finder
from service.gateway.approvals.aggregate import PENDING_MAX
from service.gateway.approvals.entries import ApprovalState
from service.gateway.calls.aggregate import ToolCall
from service.gateway.credentials import find_secret
from service.gateway.decision import Decision
from service.gateway.facts import find_facts
from service.gateway.gate import (
    CallRequest,
    MovedError,
    Pending,
    RefusalReason,
    Refused,
)
from service.secrets.sent import NamedSecret
from service.tool_definitions.aggregate import StoredDefinition

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
class DecidedCall:
    """A call that may be forwarded, with what it is forwarded by.

    With the stance ``ask`` it still needs an approval. ``recorded`` is null where it
    isn't recorded by an event of its own.
    """

    call_id: UUID
    connector: Connector
    secret: NamedSecret | None
    decision: Decision
    definition: StoredDefinition
    versions: Mapping[str, int]
    recorded: ToolCall | None = None


Verdict = DecidedCall | Refused | Pending


def refused(reason: RefusalReason, detail: str | None = None) -> Refused:
    """Return a refusal with the agent's message.

    Of a tool that the agent may not know of, it says nothing.
    """
    message = UNKNOWN_TOOL if reason.hides_the_tool else MESSAGES[reason]
    return Refused(reason=reason, message=f"{message}: {detail}" if detail else message)


async def decide_call(
    request: CallRequest, finder: Finder, *, url: str | None = None
) -> DecidedCall | Refused:
    """Decide on a call by token, rules, grant, definition and credential.

    ``url`` is where it would be sent by now, if anywhere.

    :raises MovedError: the connector has another URL
    """
    caller = request.caller
    facts = await find_facts(finder, caller.agent_id, request.connector_id)
    if not facts.lists(request.tool):
        # No rule is matched with a name that may be anything.
        return refused(RefusalReason.UNKNOWN_TOOL)
    decision = await facts.decide_quickly(request.tool)
    if decision.refusal is not None:
        return refused(decision.refusal)
    connector, definition = facts.connector, decision.definition
    assert connector is not None, "an agent holds only what exists"
    assert definition is not None, "a tool without a definition is refused"
    if url not in (None, connector.url):
        raise MovedError
    secret = await find_secret(
        finder, connector, agent_id=caller.agent_id, user_id=caller.user_id
    )
    if secret is None and connector.credential is not None:
        return refused(RefusalReason.CREDENTIAL_MISSING)
    return DecidedCall(
        call_id=uuid4(),
        connector=connector,
        secret=secret,
        decision=decision,
        definition=definition,
        versions=facts.versions,
    )
