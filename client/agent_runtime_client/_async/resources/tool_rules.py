"""The rules that decide which tools an agent may call."""
# Made by "make generated"; do not edit.

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from agent_runtime_client import operations
from agent_runtime_client._async.caller import AsyncCaller
from agent_runtime_client.models import (
    AgentRules,
    Explanation,
    PreviewedRules,
    RemovedRules,
    ReplacedRules,
    RestoredRules,
    ToolRule,
)
from agent_runtime_client.not_given import NOT_GIVEN, NotGiven


class AsyncToolRulesResource:
    """The rules that decide which tools an agent may call."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def replace(
        self,
        agent_id: UUID | str,
        rules: Sequence[ToolRule],
        *,
        if_match: int | str | None = None,
        refuse_warnings: bool = False,
        idempotency_key: str | None = None,
    ) -> ReplacedRules:
        """Replace an agent's tool rules, connector by connector.

        The batch holds the complete rules of every connector that it names. Rules of
        other connectors stay. An empty batch removes all rules of the agent. For each
        connector the caller needs full management of the agent, or has to own the
        connector while the agent holds it; an empty batch requires full management. The
        batch is applied entirely or not at all.

        Deny overrides ask, ask overrides allow; tools that no rule matches are denied.
        Patterns match the tools' own names; a rule that matches none of the known ones
        has a warning, with what was probably meant. Where the agent gets rules for a
        second connector with the same slug, it sees the tools of both under other
        names, which is warned of, too.
        """
        return await self._caller.model(
            operations.BULK_UPDATE_TOOLS,
            ReplacedRules,
            path={"agent_id": agent_id},
            body={"rules": rules},
            if_match=if_match,
            refuse_warnings=refuse_warnings,
            idempotency_key=idempotency_key,
        )

    async def get(
        self, agent_id: UUID | str, *, at: int | datetime | NotGiven = NOT_GIVEN
    ) -> AgentRules:
        """List an agent's tool rules, now or as of an earlier position or time.

        All rules for managers and readers of the agent, superusers and auditors; for
        others those of connectors that they own and that the agent holds.

        :param at: A log position or a time: answer as of then.
        """
        return await self._caller.model(
            operations.GET_AGENT_TOOLS,
            AgentRules,
            path={"agent_id": agent_id},
            query={"at": at},
        )

    async def preview(
        self,
        agent_id: UUID | str,
        rules: Sequence[ToolRule],
        *,
        days: int | NotGiven = NOT_GIVEN,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> PreviewedRules:
        """Preview a replacement of an agent's tool rules; nothing is changed.

        Takes a batch as the replacement does, and refuses what that would refuse. Shows
        the rules that would be added and removed, the decisions that would change, and
        how many recorded calls of the past `days` (7) would have been decided
        otherwise. Decisions are those on the tools that were observed; connectors that
        never were are listed.

        :param days: Days of recorded calls to compare.
        """
        return await self._caller.model(
            operations.POST_TOOL_RULES_PREVIEW,
            PreviewedRules,
            path={"agent_id": agent_id},
            query={"days": days},
            body={"rules": rules},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    async def restore(
        self,
        agent_id: UUID | str,
        at: int | datetime,
        *,
        if_match: int | str | None = None,
        refuse_warnings: bool = False,
        idempotency_key: str | None = None,
    ) -> RestoredRules:
        """Restore an agent's tool rules of an earlier position or time.

        Replaces all of the agent's rules by those of that position; rules added since
        are removed. The history is kept: the restore is recorded as a new change by the
        caller. Requires full management of the agent.

        :param at: A log position or a time: restore what was then.
        """
        return await self._caller.model(
            operations.POST_TOOL_RULES_RESTORE,
            RestoredRules,
            path={"agent_id": agent_id},
            body={"at": at},
            if_match=if_match,
            refuse_warnings=refuse_warnings,
            idempotency_key=idempotency_key,
        )

    async def remove_connector(
        self,
        agent_id: UUID | str,
        connector_id: UUID | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> RemovedRules:
        """Remove an agent's tool rules for one connector.

        Also for a connector that is retired or no longer granted. The caller needs full
        management of the agent, or has to own the connector while the agent holds it or
        has rules for it.
        """
        return await self._caller.model(
            operations.DELETE_CONNECTOR_RULES,
            RemovedRules,
            path={"agent_id": agent_id, "connector_id": connector_id},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    async def explain(
        self,
        agent_id: UUID | str,
        connector_id: UUID | str,
        tool: str,
        *,
        at: int | datetime | NotGiven = NOT_GIVEN,
    ) -> Explanation:
        """Explain the decision for one tool, now or as of an earlier time.

        Lists every rule of the connector, with whether it matched and whether it
        decided. A name that agents see, an alias, is explained as the tool behind it.
        An owner of a connector that the agent holds can ask about that connector.
        `definition` is null for a connector that the agent doesn't hold and the caller
        can't see.

        :param tool: The tool's name at its connector.
        :param at: A log position or a time: answer as of then.
        """
        return await self._caller.model(
            operations.GET_TOOL_EXPLANATION,
            Explanation,
            path={"agent_id": agent_id},
            query={"connector_id": connector_id, "tool": tool, "at": at},
        )
