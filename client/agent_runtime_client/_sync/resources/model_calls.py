"""Model calls of agents, with the reasons and the cost of each."""
# Made by "make generated"; do not edit.

from datetime import datetime
from typing import Literal
from uuid import UUID

from agent_runtime_client import operations
from agent_runtime_client._sync.caller import Caller
from agent_runtime_client._sync.pages import Pages, Paging
from agent_runtime_client.models import ExplainedModelCall, ModelCall, ModelCallList
from agent_runtime_client.not_given import NOT_GIVEN, NotGiven


class ModelCallsResource:
    """Model calls of agents, with the reasons and the cost of each."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        after: int | NotGiven = NOT_GIVEN,
        agent_id: UUID | str | NotGiven = NOT_GIVEN,
        connection_id: UUID | str | NotGiven = NOT_GIVEN,
        preset_id: UUID | str | NotGiven = NOT_GIVEN,
        user_id: UUID | str | NotGiven = NOT_GIVEN,
        model: str | NotGiven = NOT_GIVEN,
        decision: Literal["admitted", "refused"] | NotGiven = NOT_GIVEN,
        outcome: Literal[
            "ok",
            "provider_error",
            "no_answer",
            "cut",
            "timeout",
            "cancelled",
            "stopped",
            "refused",
            "running",
            "unknown",
        ]
        | NotGiven = NOT_GIVEN,
        session_id: str | NotGiven = NOT_GIVEN,
        trace_id: str | NotGiven = NOT_GIVEN,
        response_id: str | NotGiven = NOT_GIVEN,
        start_time: datetime | NotGiven = NOT_GIVEN,
        end_time: datetime | NotGiven = NOT_GIVEN,
    ) -> Pages[ModelCall, ModelCallList]:
        """List model calls of agents, latest first.

        Those of agents that the caller manages, to connections that the caller owns,
        and those made for the caller; superusers and auditors see all. Refusals are
        listed too: equal ones within a second as one. No prompts or answers: the
        service has none.

        :param limit: Maximum number of items on the page.
        :param after: `end_cursor` of the previous page.
        :param agent_id: Limits the list to this agent.
        :param connection_id: Limits the list to this connection.
        :param preset_id: Limits the list to this preset.
        :param user_id: Limits the list to this user.
        :param model: What the client has sent, or what a connection was asked.
        :param decision: Calls that were admitted, or those that were refused.
        :param outcome: Calls that ended so, or are still running.
        :param session_id: Limits the list to this session.
        :param trace_id: Limits the list to this trace.
        :param response_id: The provider's.
        :param start_time: Only what happened at or after this time.
        :param end_time: Nothing that started later, or at this time.
        """
        return Pages(
            self._caller,
            operations.GET_MODEL_CALLS,
            ModelCallList,
            Paging("calls", "after", cursor=("end_cursor",), more=()),
            query={
                "limit": limit,
                "after": after,
                "agent_id": agent_id,
                "connection_id": connection_id,
                "preset_id": preset_id,
                "user_id": user_id,
                "model": model,
                "decision": decision,
                "outcome": outcome,
                "session_id": session_id,
                "trace_id": trace_id,
                "response_id": response_id,
                "start_time": start_time,
                "end_time": end_time,
            },
        )

    def get(self, model_call_id: UUID | str) -> ExplainedModelCall:
        """Get a model call, and why it went where it went.

        The explanation is of the position before the call's event: routes, tier, preset
        with its version and targets, and the prices as they were known then. For a call
        recorded in the mode `batched`, that is up to 100 ms after it was decided.
        """
        return self._caller.model(
            operations.GET_MODEL_CALL,
            ExplainedModelCall,
            path={"model_call_id": model_call_id},
        )
