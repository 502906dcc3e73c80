"""Project session events to the sessions' read tables."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import orjson

from projections.engine.projector import Projector
from projections.sessions.table import (
    OpenedRow,
    RepricedRow,
    TouchedRow,
    TurnRow,
    delete_turns,
    insert_opened,
    insert_turns,
    reprice_turns,
    update_touched,
)
from service.database import Db
from service.event_log.mapper import RecordedEvent
from service.pacing import Pace
from service.sessions.aggregate import ChatSession

TurnKey = tuple[UUID, str]


class SessionsProjector(Projector):
    name = "sessions"
    version = 2
    events = (
        ChatSession.Created,
        ChatSession.TurnRecorded,
        ChatSession.TurnAmended,
        ChatSession.TurnRepriced,
        ChatSession.Ended,
    )

    async def project(self, db: Db, events: Sequence[RecordedEvent]) -> None:
        changes = _Changes()
        pace = Pace()
        for recorded in events:
            changes.add(recorded)
            await pace.pause()
        if changes.repriced:
            await reprice_turns(db, changes.repriced.values())
        if changes.amended:
            await delete_turns(db, changes.amended)
        if changes.turns:
            await insert_turns(db, changes.turns.values())
        if changes.opened:
            await insert_opened(db, changes.opened.values())
        if changes.touched:
            await update_touched(db, changes.touched.values())


@dataclass(slots=True)
class _Changes:
    """The changes of a batch of events to the tables."""

    opened: dict[UUID, OpenedRow] = field(default_factory=dict)
    touched: dict[UUID, TouchedRow] = field(default_factory=dict)
    # The last event of a turn replaces the earlier ones.
    turns: dict[TurnKey, TurnRow] = field(default_factory=dict)
    amended: set[TurnKey] = field(default_factory=set)
    repriced: dict[TurnKey, RepricedRow] = field(default_factory=dict)

    def add(self, recorded: RecordedEvent) -> None:
        event = recorded.event
        if isinstance(event, ChatSession.Created):
            self.opened[recorded.aggregate_id] = _opened(recorded)
            return
        session = self._session(recorded.aggregate_id)
        session.version = recorded.version
        match event:
            case ChatSession.TurnRecorded() | ChatSession.TurnAmended():
                key = recorded.aggregate_id, event.turn_id
                if isinstance(event, ChatSession.TurnAmended) and key not in self.turns:
                    self.amended.add(key)
                self.turns[key] = _turn(recorded)
            case ChatSession.TurnRepriced():
                key = recorded.aggregate_id, event.turn_id
                row = _repriced(recorded)
                if key in self.turns:
                    self.turns[key] = replace(self.turns[key], **asdict(row))
                else:
                    self.repriced[key] = row
            case ChatSession.Ended():
                session.ended_at = datetime.fromisoformat(event.ended_at)

    def _session(self, session_id: UUID) -> OpenedRow | TouchedRow:
        opened = self.opened.get(session_id)
        if opened is not None:
            return opened
        if session_id not in self.touched:
            self.touched[session_id] = TouchedRow(
                id=session_id, ended_at=None, version=0
            )
        return self.touched[session_id]


def _opened(recorded: RecordedEvent) -> OpenedRow:
    event = recorded.event
    return OpenedRow(
        id=recorded.aggregate_id,
        session_id=event.session_id,
        agent_id=event.agent_id,
        user_id=event.user_id,
        opened_at=datetime.fromisoformat(event.started_at),
        opened_position=recorded.position,
        ended_at=None,
        version=recorded.version,
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
        contract_id=event.contract_id,
        list_cost=_decimal(event.list_cost),
        list_currency=event.list_currency,
        reported_cost=_decimal(event.reported_cost),
        estimated=",".join(event.estimated),
        priced_at=recorded.recorded_at,
        spans=event.spans,
        shares=_json(event.shares),
        calls=_json(event.calls),
        lacks_usage=_lacks_usage(event),
        is_error=event.is_error,
        input_truncated=event.input_truncated,
        output_truncated=event.output_truncated,
        sealed_error=event.sealed_error,
        sealed_input=event.sealed_input,
        sealed_output=event.sealed_output,
    )


def _repriced(recorded: RecordedEvent) -> RepricedRow:
    event = recorded.event
    return RepricedRow(
        session=recorded.aggregate_id,
        turn_id=event.turn_id,
        cost=_decimal(event.cost),
        currency=event.currency,
        price_id=event.price_id,
        priced_as=event.priced_as,
        pricing_rule=event.pricing_rule,
        unpriced=event.unpriced,
        contract_id=event.contract_id,
        list_cost=_decimal(event.list_cost),
        list_currency=event.list_currency,
        estimated=",".join(event.estimated),
        priced_at=recorded.recorded_at,
        shares=_json(event.shares),
        lacks_usage=_lacks_usage(event),
    )


def _json(value: Any) -> str | None:
    return None if value is None else orjson.dumps(value).decode()


def _decimal(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


def _lacks_usage(event: Any) -> bool:
    """Return whether a model was called, but its tokens aren't all known."""
    has_call = bool(event.cost or event.unpriced or event.model)
    return has_call and (event.prompt_tokens is None or event.completion_tokens is None)
