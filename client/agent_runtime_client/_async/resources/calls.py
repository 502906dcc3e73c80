"""Tool calls of agents, with the explanation of each decision."""
# Made by "make generated"; do not edit.

from datetime import datetime
from typing import Literal
from uuid import UUID

from agent_runtime_client import operations
from agent_runtime_client._async.caller import AsyncCaller
from agent_runtime_client._async.pages import AsyncPages, Paging
from agent_runtime_client.models import ExplainedToolCall, ToolCall, ToolCallList
from agent_runtime_client.not_given import NOT_GIVEN, NotGiven


class AsyncCallsResource:
    """Tool calls of agents, with the explanation of each decision."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        after: int | NotGiven = NOT_GIVEN,
        agent_id: UUID | str | NotGiven = NOT_GIVEN,
        connector_id: UUID | str | NotGiven = NOT_GIVEN,
        user_id: UUID | str | NotGiven = NOT_GIVEN,
        tool: str | NotGiven = NOT_GIVEN,
        decision: Literal["admitted", "refused"] | NotGiven = NOT_GIVEN,
        outcome: Literal[
            "ok",
            "tool_error",
            "upstream_error",
            "timeout",
            "cancelled",
            "too_large",
            "not_sent",
            "running",
            "unknown",
        ]
        | NotGiven = NOT_GIVEN,
        session_id: str | NotGiven = NOT_GIVEN,
        trace_id: str | NotGiven = NOT_GIVEN,
        start_time: datetime | NotGiven = NOT_GIVEN,
        end_time: datetime | NotGiven = NOT_GIVEN,
    ) -> AsyncPages[ToolCall, ToolCallList]:
        """List tool calls of agents, latest first.

        Those of agents that the caller manages, of connectors that the caller owns, and
        those made for the caller; superusers and auditors see all. Refusals are listed
        too: equal ones within a second as one. No arguments or results: the service has
        none.

        :param limit: Maximum number of items on the page.
        :param after: `end_cursor` of the previous page.
        :param agent_id: Limits the list to this agent.
        :param connector_id: Limits the list to this connector.
        :param user_id: Limits the list to this user.
        :param tool: Limits the list to this tool, by its name at its connector.
        :param decision: Calls that were admitted, or those that were refused.
        :param outcome: Calls that ended so, or are still running.
        :param session_id: Limits the list to this session.
        :param trace_id: Limits the list to this trace.
        :param start_time: Only what happened at or after this time.
        :param end_time: Nothing that started later, or at this time.
        """
        return AsyncPages(
            self._caller,
            operations.GET_CALLS,
            ToolCallList,
            Paging("calls", "after", cursor=("end_cursor",), more=()),
            query={
                "limit": limit,
                "after": after,
                "agent_id": agent_id,
                "connector_id": connector_id,
                "user_id": user_id,
                "tool": tool,
                "decision": decision,
                "outcome": outcome,
                "session_id": session_id,
                "trace_id": trace_id,
                "start_time": start_time,
                "end_time": end_time,
            },
        )

    async def get(self, call_id: UUID | str) -> ExplainedToolCall:
        """Get a tool call, with the explanation of its decision as it was made.

        The explanation is of the position before the call's event; for a call recorded
        in the mode `batched`, up to 100 ms after it was decided.
        """
        return await self._caller.model(
            operations.GET_CALL, ExplainedToolCall, path={"call_id": call_id}
        )
