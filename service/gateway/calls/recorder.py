"""The events by which tool calls are recorded that nobody waits for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

from prometheus_client import Counter

from service.call_recording.recorder import AgentBatch, CallRecorder
from service.call_recording.refusals import RefusedCalls
from service.event_log.unit_of_work import UnitOfWork
from service.gateway.calls.aggregate import (
    BatchedCall,
    FinishedCall,
    ToolCall,
    ToolCallBatch,
    ToolCallRefusal,
)
from service.gateway.gate import RefusalReason
from service.gateway.metrics import UNRECORDED


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedToolCalls(RefusedCalls):
    """The key of refused calls of a tool."""

    token_id: UUID
    user_id: UUID | None
    connector_id: UUID | None
    tool: str | None
    reason: RefusalReason


class ToolCallEvents:
    """Makes the events of tool calls; implements CallEvents."""

    name = "tool calls"
    unrecorded: Counter = UNRECORDED

    async def end(self, calls: Sequence[FinishedCall], work: UnitOfWork) -> None:
        for how in calls:
            call = await work.find(ToolCall, UUID(how["call_id"]))
            if call is not None and call.finish(how):
                work.save(call)

    async def batch(
        self, batch: AgentBatch[BatchedCall, FinishedCall], _work: UnitOfWork
    ) -> ToolCallBatch:
        return ToolCallBatch(
            id=batch.id,
            agent_id=str(batch.agent_id),
            admitted=batch.admitted,
            finished=batch.finished,
            token_ids=batch.token_ids,
        )

    def refusal(
        self, calls: RefusedToolCalls, times: int, refusal_id: UUID
    ) -> ToolCallRefusal:
        return ToolCallRefusal(
            id=refusal_id,
            agent_id=str(calls.agent_id),
            token_id=str(calls.token_id),
            user_id=str(calls.user_id) if calls.user_id else None,
            connector_id=str(calls.connector_id) if calls.connector_id else None,
            tool=calls.tool,
            asked_for=calls.asked_for,
            reason=calls.reason.value,
            times=times,
            session_id=calls.session_id,
            trace_id=calls.trace_id,
        )


ToolCallRecorder: TypeAlias = CallRecorder[BatchedCall, FinishedCall, RefusedToolCalls]
