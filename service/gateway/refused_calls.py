"""Refused calls on record, with the names of tools that are asked for."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from service.agent_tokens.caller import Caller
from service.connectors.prefixes import prefixes_of
from service.event_log.latest import LatestFacts
from service.event_log.log import EventLog
from service.gateway.calls.recorder import RefusedToolCalls, ToolCallRecorder
from service.gateway.decision import connectors_named
from service.gateway.facts import Facts, find_facts, slugs_of
from service.gateway.gate import CallRequest, RefusalReason
from service.gateway.metrics import count_of
from service.identifiers import id_text
from service.tool_definitions.aggregate import ToolDefinitions
from service.tool_definitions.aliases import aliases_of
from service.tool_definitions.names import is_acceptable_name
from service.tool_rules.aggregate import ToolRules

WITHOUT_A_TOOL: Final = frozenset(
    {RefusalReason.UNKNOWN_TOOL, RefusalReason.CONNECTOR_NOT_GRANTED}
)


class CallRefusals:
    """Counts and records refused calls."""

    def __init__(self, log: EventLog, recorder: ToolCallRecorder) -> None:
        self._log = log
        self._recorder = recorder

    def refused(self, request: CallRequest, reason: RefusalReason) -> None:
        """Record the refusal of a listed tool."""
        # A name that the upstream doesn't list could hold anything, and isn't the one
        # that the agent gave where that is an alias.
        is_known = reason not in WITHOUT_A_TOOL and self._is_listed(request)
        self._record(
            request.caller,
            request.connector_id,
            request.tool if is_known else None,
            reason,
            session_id=request.session_id,
            trace_id=request.trace_id,
        )

    async def refused_unlisted(
        self,
        caller: Caller,
        connector_id: UUID | None,
        name: object,
        session_id: str | None,
        trace_id: str | None,
    ) -> None:
        """Record a call of a name that the caller's list doesn't have.

        Of a connector that the agent doesn't hold, all names are recorded alike: who
        reads the record isn't to learn which of them it lists. The name that the agent
        gave says nothing of that; it is recorded if a tool could have it.
        """
        latest = LatestFacts(self._log)
        rules = await latest.find(
            ToolRules, ToolRules.create_id(id_text(caller.agent_id))
        )
        reason, tool = RefusalReason.UNKNOWN_TOOL, None
        named = [connector_id] if connector_id else connectors_named(rules)
        facts = {
            each: await find_facts(latest, caller.agent_id, each) for each in named
        }
        if connector_id and not facts[connector_id].granted:
            reason = RefusalReason.CONNECTOR_NOT_GRANTED
        found = None
        if isinstance(name, str):
            found = (connector_id, name) if connector_id else _aliased(name, facts)
        if found and facts[found[0]].granted and facts[found[0]].lists(found[1]):
            connector_id, tool = found
            decision = await facts[connector_id].decide_quickly(tool)
            reason = decision.refusal or reason
        self._record(
            caller,
            connector_id,
            tool,
            reason,
            asked_for=_recordable(name) if tool is None else None,
            session_id=session_id,
            trace_id=trace_id,
        )

    def _is_listed(self, request: CallRequest) -> bool:
        known = self._log.cache.get(ToolDefinitions.id_for(request.connector_id))
        return isinstance(known, ToolDefinitions) and known.lists(request.tool)

    def _record(
        self,
        caller: Caller,
        connector_id: UUID | None,
        tool: str | None,
        reason: RefusalReason,
        *,
        asked_for: str | None = None,
        session_id: str | None,
        trace_id: str | None,
    ) -> None:
        count_of(reason.value).inc()
        self._recorder.refused(
            RefusedToolCalls(
                agent_id=caller.agent_id,
                token_id=caller.token_id,
                user_id=caller.user_id,
                connector_id=connector_id,
                tool=tool,
                reason=reason,
                asked_for=asked_for,
                session_id=session_id,
                trace_id=trace_id,
            )
        )


def _recordable(name: object) -> str | None:
    return name if isinstance(name, str) and is_acceptable_name(name) else None


def _aliased(alias: str, facts: Mapping[UUID, Facts]) -> tuple[UUID, str] | None:
    """Return the tool of an alias, which may be hidden from the agent."""
    prefixes = prefixes_of(slugs_of(facts.values()))
    # No prefix has this character.
    prefix, _, _ = alias.partition("_")
    tools = [
        (each, tool)
        for each, found in facts.items()
        if prefixes.get(each) == prefix and found.definitions
        for tool in sorted(found.definitions.observed)
        if found.lists(tool)
    ]
    return aliases_of(prefixes, tools).get(alias)
