"""Turns to what was used on which day."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Context, Decimal
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from projections.projector import Projector
from projections.usage.table import UsageRow, add_usage
from service.event_log.mapper import RecordedEvent
from service.sessions.aggregate import ChatSession

# Sums of costs are exact: far more digits than any of them have.
EXACT = Context(prec=100)
Key = tuple[date, str, str, str | None, str | None, str | None]


class UsageProjector(Projector):
    name = "usage"
    events = (ChatSession.TurnRecorded,)

    async def project(
        self, db: AsyncConnection[Any], events: Sequence[RecordedEvent]
    ) -> None:
        rows: dict[Key, UsageRow] = {}
        for recorded in events:
            _fold(rows, recorded.event)
        await add_usage(db, rows.values())


def _fold(rows: dict[Key, UsageRow], turn: ChatSession.TurnRecorded) -> None:
    day = datetime.fromisoformat(turn.started_at).astimezone(UTC).date()
    key = (
        day,
        turn.agent_id,
        turn.user_id,
        turn.provider,
        turn.model,
        turn.currency,
    )
    row = rows.get(key)
    if row is None:
        row = rows[key] = UsageRow(
            day=day,
            agent_id=UUID(turn.agent_id),
            user_id=UUID(turn.user_id),
            provider=turn.provider,
            model=turn.model,
            currency=turn.currency,
        )
    took_tokens = (turn.prompt_tokens or 0) + (turn.completion_tokens or 0) > 0
    row.turns += 1
    row.turns_with_error += turn.is_error
    row.turns_without_price += turn.cost is None and took_tokens
    row.prompt_tokens = _sum(row.prompt_tokens, turn.prompt_tokens)
    row.completion_tokens = _sum(row.completion_tokens, turn.completion_tokens)
    row.cache_read_tokens = _sum(row.cache_read_tokens, turn.cache_read_tokens)
    row.cache_creation_tokens = _sum(
        row.cache_creation_tokens, turn.cache_creation_tokens
    )
    if turn.cost is not None:
        row.cost = EXACT.add(row.cost or Decimal(0), Decimal(turn.cost))


def _sum(known: int | None, more: int | None) -> int | None:
    if known is None or more is None:
        return more if known is None else known
    return known + more
