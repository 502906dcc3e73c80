"""Project session events to the sessions' read tables."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from projections.engine.projector import Projector
from projections.sessions.table import (
    OpenedRow,
    TurnRow,
    delete_turns,
    insert_opened,
    insert_turns,
    summarize,
)
from service.database import Db
from service.event_log.mapper import RecordedEvent
from service.sessions.aggregate import ChatSession


class SessionsProjector(Projector):
    name = "sessions"
    events = (
        ChatSession.Created,
        ChatSession.TurnRecorded,
        ChatSession.TurnAmended,
        ChatSession.Ended,
    )

    async def project(self, db: Db, events: Sequence[RecordedEvent]) -> None:
        opened: list[OpenedRow] = []
        # The last event of a turn replaces the earlier ones.
        turns: dict[tuple[UUID, str], TurnRow] = {}
        amended: set[tuple[UUID, str]] = set()
        ended: dict[UUID, datetime | None] = {}
        for recorded in events:
            event = recorded.event
            ended.setdefault(recorded.aggregate_id, None)
            match event:
                case ChatSession.Created():
                    opened.append(_opened(recorded))
                case ChatSession.TurnRecorded() | ChatSession.TurnAmended():
                    key = recorded.aggregate_id, event.turn_id
                    if isinstance(event, ChatSession.TurnAmended) and key not in turns:
                        amended.add(key)
                    turns[key] = _turn(recorded)
                case ChatSession.Ended():
                    ended[recorded.aggregate_id] = datetime.fromisoformat(
                        event.ended_at
                    )
        if opened:
            await insert_opened(db, opened)
        if amended:
            await delete_turns(db, amended)
        if turns:
            await insert_turns(db, turns.values())
        await summarize(db, ended)


def _opened(recorded: RecordedEvent) -> OpenedRow:
    event = recorded.event
    return OpenedRow(
        id=recorded.aggregate_id,
        session_id=event.session_id,
        agent_id=UUID(event.agent_id),
        user_id=UUID(event.user_id),
        opened_at=datetime.fromisoformat(event.started_at),
        opened_position=recorded.position,
    )


def _turn(recorded: RecordedEvent) -> TurnRow:
    event = recorded.event
    return TurnRow(
        session=recorded.aggregate_id,
        version=recorded.version,
        turn_id=event.turn_id,
        trace_id=event.trace_id,
        started_at=datetime.fromisoformat(event.started_at),
        ended_at=datetime.fromisoformat(event.ended_at),
        latency_us=event.latency_us,
        provider=event.provider,
        model=event.model,
        prompt_tokens=event.prompt_tokens,
        completion_tokens=event.completion_tokens,
        cache_read_tokens=event.cache_read_tokens,
        cache_creation_tokens=event.cache_creation_tokens,
        cost=_decimal(event.cost),
        currency=event.currency,
        price_id=event.price_id,
        priced_as=event.priced_as,
        pricing_rule=event.pricing_rule,
        unpriced=event.unpriced,
        reported_cost=_decimal(event.reported_cost),
        lacks_usage=_lacks_usage(event),
        is_error=event.is_error,
        input_truncated=event.input_truncated,
        output_truncated=event.output_truncated,
        sealed_error=event.sealed_error,
        sealed_input=event.sealed_input,
        sealed_output=event.sealed_output,
    )


def _decimal(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


def _lacks_usage(event: ChatSession.TurnRecorded) -> bool:
    """Return whether a model was called, but its tokens aren't all known."""
    has_call = bool(event.cost or event.unpriced or event.model)
    return has_call and (event.prompt_tokens is None or event.completion_tokens is None)
