"""Project turns to the usage of each day."""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from decimal import Context, Decimal
from typing import Any
from uuid import UUID

import orjson

from projections.engine.projector import Projector
from projections.usage.table import (
    AmendableRow,
    TurnKey,
    UsageRow,
    add_usage,
    amendable_turns,
    keep_amendable,
)
from service.database import Db
from service.event_log.mapper import RecordedEvent
from service.sessions.aggregate import ChatSession

# Precise enough for any sum of costs, so nothing is rounded.
EXACT = Context(prec=100)
COUNTS = (
    "prompt_tokens",
    "completion_tokens",
    "cache_read_tokens",
    "cache_creation_tokens",
)
Key = tuple[date, str, str, str | None, str | None, str | None]
Part = dict[str, Any]


class UsageProjector(Projector):
    name = "usage"
    events = (ChatSession.TurnRecorded, ChatSession.TurnAmended)

    async def project(self, db: Db, events: Sequence[RecordedEvent]) -> None:
        rows: dict[Key, UsageRow] = {}
        amended = [
            (recorded.aggregate_id, recorded.event.turn_id)
            for recorded in events
            if isinstance(recorded.event, ChatSession.TurnAmended)
        ]
        before = await amendable_turns(db, amended) if amended else {}
        kept: dict[TurnKey, list[Part]] = {}
        for recorded in events:
            turn = recorded.event
            key = (recorded.aggregate_id, turn.turn_id)
            parts = _parts(turn)
            if isinstance(turn, ChatSession.TurnAmended):
                _add(rows, kept.get(key) or orjson.loads(before[key]), sign=-1)
            _add(rows, parts, sign=1)
            if turn.spans is not None:
                kept[key] = parts
        await add_usage(db, rows.values())
        if kept:
            await keep_amendable(db, _amendable(kept))


def _amendable(kept: dict[TurnKey, list[Part]]) -> Iterable[AmendableRow]:
    for (session, turn_id), parts in kept.items():
        yield AmendableRow(
            session=session, turn_id=turn_id, parts=orjson.dumps(parts).decode()
        )


def _parts(turn: ChatSession.TurnRecorded) -> list[Part]:
    """Return what a turn adds to the rows: one part for each model.

    The turn itself is counted once, for the model with the most tokens.
    """
    shares: Sequence[Any] = turn.shares or [
        {
            name: getattr(turn, name)
            for name in ("provider", "model", *COUNTS, "cost", "currency")
        }
    ]
    common = {
        "day": datetime.fromisoformat(turn.started_at).astimezone(UTC).date(),
        "agent_id": turn.agent_id,
        "user_id": turn.user_id,
    }
    parts: list[Part] = []
    for share in shares:
        counts = {name: share[name] for name in COUNTS}
        is_turn = not any(part["turns"] for part in parts) and (
            (share["provider"], share["model"]) == (turn.provider, turn.model)
        )
        parts.append(
            {
                **common,
                "provider": share["provider"],
                "model": share["model"],
                "currency": share["currency"],
                "turns": int(is_turn),
                "turns_with_error": int(is_turn and turn.is_error),
                "turns_without_price": int(is_turn and _lacks_price(shares)),
                **counts,
                "cost": share["cost"],
            }
        )
    return parts


def _lacks_price(shares: Sequence[Any]) -> bool:
    return any(
        share["cost"] is None
        and (share["prompt_tokens"] or 0) + (share["completion_tokens"] or 0) > 0
        for share in shares
    )


def _add(rows: dict[Key, UsageRow], parts: Sequence[Part], *, sign: int) -> None:
    for part in parts:
        day = part["day"]
        if isinstance(day, str):
            day = date.fromisoformat(day)
        ids = part["agent_id"], part["user_id"]
        key = (day, *ids, part["provider"], part["model"], part["currency"])
        row = rows.get(key)
        if row is None:
            row = rows[key] = UsageRow(
                day=day,
                agent_id=UUID(part["agent_id"]),
                user_id=UUID(part["user_id"]),
                provider=part["provider"],
                model=part["model"],
                currency=part["currency"],
            )
        row.turns += sign * part["turns"]
        row.turns_with_error += sign * part["turns_with_error"]
        row.turns_without_price += sign * part["turns_without_price"]
        for name in COUNTS:
            if part[name] is not None:
                setattr(row, name, (getattr(row, name) or 0) + sign * part[name])
        if part["cost"] is not None:
            amount = Decimal(part["cost"]) * sign
            row.cost = EXACT.add(row.cost or Decimal(0), amount)
