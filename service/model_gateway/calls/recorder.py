"""The events by which model calls are recorded that nobody waits for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

from prometheus_client import Counter

from service.aggregate import LoggedAggregate
from service.call_recording.recorder import AgentBatch, CallRecorder
from service.call_recording.refusals import RefusedCalls
from service.event_log.finder import Finder
from service.event_log.unit_of_work import UnitOfWork
from service.identifiers import id_text
from service.model_gateway.calls.aggregate import ModelCall
from service.model_gateway.calls.call_record import CallOutcome, CallRecord
from service.model_gateway.calls.cost import usage_of
from service.model_gateway.calls.folded.aggregate import (
    ModelCallBatch,
    ModelCallRefusal,
)
from service.model_gateway.calls.recorded import BatchedModelCall, FinishedModelCall
from service.model_gateway.metrics import UNRECORDED
from service.pacing import Pace
from service.secrets.sent import UsedSecret


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedModelCalls(RefusedCalls):
    """The key of refused model calls."""

    token_id: UUID
    user_id: UUID | None
    dialect: str
    reason: str


@dataclass(frozen=True, slots=True)
class AdmittedCall:
    """A call that was admitted in a batch, and the secret that it sends."""

    call: BatchedModelCall
    secret: UsedSecret | None


class ModelCallEvents:
    """Makes the events of model calls; implements CallEvents."""

    name = "model calls"
    unrecorded: Counter = UNRECORDED

    async def end(self, calls: Sequence[CallRecord], work: UnitOfWork) -> None:
        pace = Pace()
        for record in calls:
            await pace.pause()
            call = await work.find(LoggedAggregate, record.call_id)
            if call is None and record.mode is None:
                # Nothing was sent; an admission that comes late has no place any more.
                work.save(self.refusal(refused_calls(record), 1, record.call_id))
            elif isinstance(call, ModelCall) and call.outcome is None:
                call.finish(await _finished(record, work), record.digests)
                work.save(call)

    async def batch(
        self, batch: AgentBatch[AdmittedCall, CallRecord], work: UnitOfWork
    ) -> ModelCallBatch:
        pace, finished = Pace(), []
        for each in batch.finished:
            await pace.pause()
            finished.append(await _finished(each, work))
        return ModelCallBatch(
            id=batch.id,
            agent_id=str(batch.agent_id),
            admitted=[each.call for each in batch.admitted],
            finished=finished,
            token_ids=batch.token_ids,
            secrets=[each.secret for each in batch.admitted],
            digests=[each.digests for each in batch.finished],
        )

    def refusal(
        self, calls: RefusedModelCalls, times: int, refusal_id: UUID
    ) -> ModelCallRefusal:
        return ModelCallRefusal(
            id=refusal_id,
            agent_id=id_text(calls.agent_id),
            token_id=id_text(calls.token_id),
            user_id=id_text(calls.user_id) if calls.user_id else None,
            dialect=calls.dialect,
            asked_for=calls.asked_for,
            reason=calls.reason,
            times=times,
            session_id=calls.session_id,
            trace_id=calls.trace_id,
        )


ModelCallRecorder: TypeAlias = CallRecorder[AdmittedCall, CallRecord, RefusedModelCalls]


def refused_calls(record: CallRecord) -> RefusedModelCalls:
    """Return what a call that wasn't sent has in common with others."""
    return RefusedModelCalls(
        agent_id=record.caller.agent_id,
        token_id=record.caller.token_id,
        user_id=record.caller.user_id,
        dialect=record.dialect.value,
        asked_for=record.asked_for,
        reason=record.reason or record.outcome or CallOutcome.STOPPED,
        session_id=record.session_id,
        trace_id=record.trace_id,
    )


async def _finished(record: CallRecord, catalog: Finder) -> FinishedModelCall:
    assert record.outcome is not None, "it has ended"
    return {
        "call_id": id_text(record.call_id),
        "outcome": record.outcome.value,
        "status": record.status,
        "duration_ms": record.duration_ms,
        "first_byte_ms": record.first_byte_ms,
        "request_bytes": record.request_bytes,
        "answer_bytes": record.answer_bytes,
        "attempts": record.attempts,
        "response_id": record.figures.response_id,
        "usage": await usage_of(record, catalog),
    }
