"""Tool call and approval events to their read tables."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from projections.engine.projector import Projector
from projections.gateway.table import (
    ApprovalRow,
    CallRow,
    EndRow,
    end_calls,
    insert_calls,
    latest_approvals,
    upsert_approvals,
)
from service.database import Db
from service.event_log.mapper import RecordedEvent
from service.gateway.approvals.aggregate import Approvals
from service.gateway.calls.aggregate import (
    BatchedCall,
    FinishedCall,
    ToolCall,
    ToolCallBatch,
    ToolCallRefusal,
)

# More than one event can hold.
CALLS_OF_EVENT_MAX: Final = 1_000_000
DECISIONS: Final = (
    Approvals.Approved,
    Approvals.Refused,
    Approvals.Withdrawn,
    Approvals.Expired,
    Approvals.Used,
)
STATES: Final = dict(
    zip(
        DECISIONS,
        ("approved", "refused", "withdrawn", "expired", "used"),
        strict=True,
    )
)


class GatewayProjector(Projector):
    name = "gateway"
    events = (
        ToolCall.Created,
        ToolCall.Finished,
        ToolCallBatch.Created,
        ToolCallRefusal.Created,
        Approvals.Requested,
        *DECISIONS,
    )

    async def project(self, db: Db, events: Sequence[RecordedEvent]) -> None:
        await insert_calls(db, [row for each in events for row in _calls(each)])
        await end_calls(db, [row for each in events for row in _ends(each)])
        of_approvals = [each for each in events if hasattr(each.event, "approval_id")]
        of_approvals = [each for each in of_approvals if each.topic in _APPROVAL_TOPICS]
        if of_approvals:
            rows = await latest_approvals(
                db, {UUID(each.event.approval_id) for each in of_approvals}
            )
            changed = [row for each in of_approvals for row in _approval(rows, each)]
            await upsert_approvals(db, {row.sort_key: row for row in changed}.values())


def _calls(recorded: RecordedEvent) -> Iterator[CallRow]:
    event, sort_key = recorded.event, recorded.position * CALLS_OF_EVENT_MAX
    match event:
        case ToolCall.Created():
            yield CallRow(
                sort_key=sort_key,
                id=recorded.aggregate_id,
                position=recorded.position,
                at=event.timestamp,
                decision="admitted",
                stance=event.stance,
                approval_id=_id(event.approval_id),
                token_id=UUID(event.token_id),
                **_of_call(event.agent_id, vars(event)),
            )
        case ToolCallBatch.Created():
            for number, (call, token_id) in enumerate(
                zip(event.admitted, event.token_ids, strict=True)
            ):
                yield CallRow(
                    sort_key=sort_key + number,
                    id=UUID(call["call_id"]),
                    position=recorded.position,
                    at=event.timestamp,
                    decision="admitted",
                    record_mode="batched",
                    stance="allow",
                    token_id=UUID(token_id),
                    **_of_call(event.agent_id, call),
                )
        case ToolCallRefusal.Created():
            yield CallRow(
                sort_key=sort_key,
                id=recorded.aggregate_id,
                position=recorded.position,
                at=event.timestamp,
                agent_id=UUID(event.agent_id),
                token_id=UUID(event.token_id),
                user_id=_id(event.user_id),
                connector_id=_id(event.connector_id),
                tool=_storable(event.tool),
                asked_for=event.asked_for,
                decision="refused",
                reason=event.reason,
                times=event.times,
                session_id=event.session_id,
                trace_id=event.trace_id,
            )


def _of_call(agent_id: str, call: BatchedCall | dict[str, Any]) -> dict[str, Any]:
    return {
        "agent_id": UUID(agent_id),
        "user_id": _id(call["user_id"]),
        "connector_id": UUID(call["connector_id"]),
        "tool": call["tool"],
        "rule": call["rule"],
        "definition": call["definition"],
        "session_id": call["session_id"],
        "trace_id": call["trace_id"],
    }


def _ends(recorded: RecordedEvent) -> Iterator[EndRow]:
    match recorded.event:
        case ToolCall.Finished() as event:
            yield _end(recorded.aggregate_id, vars(event))
        case ToolCallBatch.Created(finished=finished):
            for each in finished:
                yield _end(UUID(each["call_id"]), each)


def _end(call_id: UUID, how: FinishedCall | dict[str, Any]) -> EndRow:
    return EndRow(
        id=call_id,
        outcome=how["outcome"],
        duration_ms=how["duration_ms"],
        upstream_ms=how["upstream_ms"],
        request_bytes=how["request_bytes"],
        answer_bytes=how["answer_bytes"],
    )


def _approval(
    rows: dict[tuple[UUID, UUID], ApprovalRow], recorded: RecordedEvent
) -> Iterator[ApprovalRow]:
    event = recorded.event
    key = (UUID(event.agent_id), UUID(event.approval_id))
    if isinstance(event, Approvals.Requested):
        rows[key] = ApprovalRow(
            sort_key=recorded.position,
            id=key[1],
            agent_id=key[0],
            token_id=UUID(event.token_id),
            user_id=_id(event.user_id),
            connector_id=UUID(event.connector_id),
            tool=event.tool,
            definition=event.definition,
            state="pending",
            requested_at=datetime.fromisoformat(event.requested_at),
            expires_at=datetime.fromisoformat(event.expires_at),
            version=recorded.version,
        )
    else:
        row = rows[key]
        row.state, row.version = STATES[type(event)], recorded.version
        if isinstance(event, Approvals.Approved):
            row.expires_at = datetime.fromisoformat(event.expires_at)
        if isinstance(event, Approvals.Used):
            row.call_id = UUID(event.call_id)
        if (by := getattr(event, "by", None)) is not None:
            row.decided_by, row.decided_at = UUID(by), event.timestamp
            row.reason = event.reason
    yield rows[key]


def _storable(tool: str | None) -> str | None:
    """Return a refused tool's name; None for one that no column of text can hold.

    Earlier versions recorded names as upstreams list them, also with NUL.
    """
    return None if tool and "\0" in tool else tool


def _id(text: str | None) -> UUID | None:
    return UUID(text) if text else None


_APPROVAL_TOPICS: Final = frozenset(
    each.TOPIC for each in (Approvals.Requested, *DECISIONS)
)
