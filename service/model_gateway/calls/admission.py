"""Admit model calls: by an event before they are sent, or in a batch after it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from service.agent_tokens.authenticate import valid_token
from service.event_log.finder import Finder
from service.event_log.unit_of_work import UnitOfWork
from service.identifiers import id_text
from service.model_gateway.calls.aggregate import ModelCall
from service.model_gateway.calls.call_record import CallRecord
from service.model_gateway.calls.deciding import (
    CallRequest,
    RoutedCall,
    route_call,
    secret_of,
)
from service.model_gateway.calls.recorded import BatchedModelCall
from service.model_gateway.routing.plan import PlannedTarget
from service.secrets.sent import NamedSecret


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The call may be sent to its target once, now, if it sends this secret."""

    routed: RoutedCall
    target: PlannedTarget
    secret: NamedSecret | None


async def admission_of(
    call: CallRequest, target: PlannedTarget, finder: Finder
) -> Admission | None:
    """Decide on a call.

    None if the target isn't one of the call's any more, or goes elsewhere.

    :raises ServiceError: it may not be made any more
    """
    routed = await route_call(call, finder)
    for planned in routed.plan.targets:
        if planned.key == target.key and planned.base_url == target.base_url:
            secret = await secret_of(planned, finder)
            needs_one = planned.connection.settings["credential"] is not None
            if needs_one and secret is None:
                return None
            return Admission(routed=routed, target=planned, secret=secret)
    return None


async def admit(
    call: CallRequest,
    record: CallRecord,
    target: PlannedTarget,
    opened: NamedSecret | None,
    work: UnitOfWork,
) -> Admission | None:
    """Decide by the log as it is, and record it, unless another secret is to be sent.

    :raises ServiceError: it may not be made any more
    """
    token = await valid_token(work, call.caller, work.at)
    admission = await admission_of(call, target, work)
    if admission is None or admission.secret != opened:
        return admission
    planned, routed = admission.target, admission.routed
    sent: Mapping[str, Any] = {
        "preset_id": id_text(routed.plan.preset.id),
        "connection_id": id_text(planned.connection.id),
        "model": planned.target["model"],
        "versions": {
            **routed.versions,
            "connection": planned.connection.version,
            "tokens": token.of_version,
        },
        "secret": opened.used if opened else None,
    }
    known: ModelCall | None = None
    if record.times_admitted or record.is_doubtful:
        known = await work.find(ModelCall, record.call_id)
    if known is not None:
        known.repeat(**sent)
    else:
        known = ModelCall(
            id=record.call_id,
            token_id=id_text(call.caller.token_id),
            **_of_call(record, routed),
            agent_id=id_text(call.caller.agent_id),
            **sent,
        )
    work.save(known)
    return admission


def batched_call(record: CallRecord, admission: Admission) -> BatchedModelCall:
    """Return how an admission stands in a batch."""
    routed = admission.routed
    target: Mapping[str, Any] = {
        "preset_id": id_text(routed.plan.preset.id),
        "preset_version": routed.plan.preset.version,
        "connection_id": id_text(admission.target.connection.id),
        "model": admission.target.target["model"],
    }
    return {
        "call_id": id_text(record.call_id),
        "attempt": record.times_admitted + 1,
        **_of_call(record, routed),  # type: ignore[typeddict-item] # the others
        **target,
    }


def _of_call(record: CallRecord, routed: RoutedCall) -> Mapping[str, Any]:
    user_id: UUID | None = record.caller.user_id
    return {
        "user_id": id_text(user_id) if user_id else None,
        "dialect": record.dialect.value,
        "counts_only": record.counts_only,
        "asked_for": record.asked_for,
        "route": routed.route,
        "tier": routed.tier,
        "chosen_by": record.chosen_by.value,
        "session_id": record.session_id,
        "trace_id": record.trace_id,
    }
