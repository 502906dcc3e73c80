"""Events of model calls to their read table."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import orjson

from projections.engine.projector import Projector
from projections.model_gateway.calls.table import (
    CallRow,
    EndRow,
    TargetRow,
    end_calls,
    insert_calls,
    retarget_calls,
)
from service.database import Db
from service.event_log.mapper import RecordedEvent
from service.model_gateway.calls.aggregate import ModelCall
from service.model_gateway.calls.folded.aggregate import (
    ModelCallBatch,
    ModelCallRefusal,
)
from service.model_gateway.calls.recorded import FinishedModelCall
from service.pacing import Pace

# More than one event can hold.
CALLS_OF_EVENT_MAX: Final = 1_000_000


class ModelCallsProjector(Projector):
    name = "model_calls"
    events = (
        ModelCall.Created,
        ModelCall.Repeated,
        ModelCall.Finished,
        ModelCallBatch.Created,
        ModelCallRefusal.Created,
    )

    async def project(self, db: Db, events: Sequence[RecordedEvent]) -> None:
        calls: list[CallRow] = []
        targets: dict[UUID, TargetRow] = {}
        ends: list[EndRow] = []
        pace = Pace()
        for recorded in events:
            calls += _calls(recorded)
            targets.update((each.id, each) for each in _targets(recorded))
            ends += _ends(recorded)
            await pace.pause()
        await insert_calls(db, calls)
        await retarget_calls(db, [*targets.values()])
        await end_calls(db, ends)


def _calls(recorded: RecordedEvent) -> Iterator[CallRow]:
    event, sort_key = recorded.event, recorded.position * CALLS_OF_EVENT_MAX
    place = {"position": recorded.position, "at": event.timestamp}
    match event:
        case ModelCall.Created():
            yield CallRow(
                sort_key=sort_key,
                id=recorded.aggregate_id,
                token_id=UUID(event.token_id),
                decision="admitted",
                preset_version=event.versions["preset"],
                **_of_call(event.agent_id, vars(event)),
                **place,
            )
        case ModelCallBatch.Created():
            for number, (call, token_id) in enumerate(
                zip(event.admitted, event.token_ids, strict=True)
            ):
                if call["attempt"] > 1:
                    continue
                yield CallRow(
                    sort_key=sort_key + number,
                    id=UUID(call["call_id"]),
                    token_id=UUID(token_id),
                    decision="admitted",
                    record_mode="batched",
                    preset_version=call["preset_version"],
                    **_of_call(event.agent_id, call),
                    **place,
                )
        case ModelCallRefusal.Created():
            yield CallRow(
                sort_key=sort_key,
                id=recorded.aggregate_id,
                agent_id=UUID(event.agent_id),
                token_id=UUID(event.token_id),
                user_id=_id(event.user_id),
                dialect=event.dialect,
                asked_for=event.asked_for,
                decision="refused",
                reason=event.reason,
                times=event.times,
                session_id=event.session_id,
                trace_id=event.trace_id,
                **place,
            )


def _of_call(agent_id: str, call: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "agent_id": UUID(agent_id),
        "user_id": _id(call["user_id"]),
        "preset_id": UUID(call["preset_id"]),
        "connection_id": UUID(call["connection_id"]),
        **{
            name: call[name]
            for name in (
                *("dialect", "counts_only", "asked_for", "route", "tier", "model"),
                *("chosen_by", "session_id", "trace_id"),
            )
        },
    }


def _targets(recorded: RecordedEvent) -> Iterator[TargetRow]:
    match recorded.event:
        case ModelCall.Repeated() as event:
            version = event.versions["preset"]
            yield _target(recorded.aggregate_id, vars(event), version)
        case ModelCallBatch.Created(admitted=admitted):
            for each in admitted:
                if each["attempt"] > 1:
                    version = each["preset_version"]
                    yield _target(UUID(each["call_id"]), each, version)


def _target(call_id: UUID, call: Mapping[str, Any], preset_version: int) -> TargetRow:
    return TargetRow(
        id=call_id,
        preset_id=UUID(call["preset_id"]),
        preset_version=preset_version,
        connection_id=UUID(call["connection_id"]),
        model=call["model"],
    )


def _ends(recorded: RecordedEvent) -> Iterator[EndRow]:
    match recorded.event:
        case ModelCall.Finished(how=how):
            yield _end(how)
        case ModelCallBatch.Created(finished=finished):
            yield from map(_end, finished)


def _end(how: FinishedModelCall) -> EndRow:
    return EndRow(
        id=UUID(how["call_id"]),
        outcome=how["outcome"],
        status=how["status"],
        duration_ms=how["duration_ms"],
        first_byte_ms=how["first_byte_ms"],
        request_bytes=how["request_bytes"],
        answer_bytes=how["answer_bytes"],
        attempts=orjson.dumps(how["attempts"]).decode(),
        response_id=how["response_id"],
        usage=orjson.dumps(how["usage"]).decode() if how["usage"] else None,
    )


def _id(text: str | None) -> UUID | None:
    return UUID(text) if text else None
