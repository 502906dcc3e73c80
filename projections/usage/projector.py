"""Project turns to the usage of each quarter of an hour."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Context, Decimal
from typing import Any
from uuid import UUID

import orjson

from projections.engine.projector import Projector
from projections.usage.earlier_event import event_before
from projections.usage.sums import COSTS, COUNTS, SUMS, TELLING
from projections.usage.table import (
    AmendableRow,
    TurnKey,
    UsageRow,
    add_usage,
    amendable_turns,
    delete_amendable,
    delete_empty,
    keep_amendable,
    reprice_amendable,
)
from service.database import Db
from service.event_log.mapper import RecordedEvent
from service.pacing import Pace
from service.sessions.aggregate import ChatSession
from service.sessions.cost import REPORTED_IN, costs_differ
from service.sessions.late_spans import AMENDED_FOR

# Precise enough for any sum of costs, so nothing is rounded.
EXACT = Context(prec=100)
TOKENS = (
    "prompt_tokens",
    "completion_tokens",
    "cache_read_tokens",
    "cache_creation_tokens",
)
# What a row is about, beside the quarter, the agent and the user.
NAMES = ("provider", "model", "currency", "priced_as", "pricing_rule", "unpriced")
SHARE = ("provider", "model", *TOKENS, "cost", *NAMES[2:], "reported_cost", "estimated")
# Whose amounts are compared with what is reported.
CHARGE = ("cost", "currency", "list_cost", "list_currency")
QUARTER = timedelta(minutes=15)
Key = tuple[Any, ...]
Part = dict[str, Any]


class UsageProjector(Projector):
    name = "usage"
    events = (
        ChatSession.TurnRecorded,
        ChatSession.TurnAmended,
        ChatSession.TurnRepriced,
    )

    async def project(self, db: Db, events: Sequence[RecordedEvent]) -> None:
        rows: dict[Key, UsageRow] = {}
        amended = [
            (recorded.aggregate_id, recorded.event.turn_id)
            for recorded in events
            if isinstance(recorded.event, ChatSession.TurnAmended)
        ]
        before = await amendable_turns(db, amended) if amended else {}
        latest: dict[TurnKey, list[Part]] = {}
        made_at: dict[TurnKey, datetime] = {}
        pace = Pace()
        for recorded in events:
            await pace.pause()
            turn = recorded.event
            key = (recorded.aggregate_id, turn.turn_id)
            if isinstance(turn, ChatSession.TurnRepriced):
                replaced = _parts(turn, _replaced_shares(turn), turn.replaced)
                _add(rows, replaced, sign=-1)
            elif isinstance(turn, ChatSession.TurnAmended):
                if key not in latest:
                    latest[key] = await _parts_before(db, turn, before.get(key))
                _add(rows, latest[key], sign=-1)
            parts = _parts(turn, _shares(turn), _charge(turn))
            _add(rows, parts, sign=1)
            if turn.spans is not None:
                latest[key] = parts
                if not isinstance(turn, ChatSession.TurnRepriced):
                    made_at[key] = recorded.recorded_at
        await add_usage(db, rows.values())
        if any(isinstance(each.event, ChatSession.TurnRepriced) for each in events):
            await delete_empty(db, rows.values())
        await _keep(db, latest, made_at)
        await delete_amendable(db, before=events[-1].recorded_at - AMENDED_FOR)


async def _parts_before(
    db: Db, amended: ChatSession.TurnAmended, kept: str | None
) -> list[Part]:
    """Return what the turn had added: as kept, or else by its event before."""
    if kept is not None:
        found: list[Part] = orjson.loads(kept)
        return found
    turn = await event_before(db, amended)
    return _parts(turn, _shares(turn), _charge(turn))


async def _keep(
    db: Db, latest: dict[TurnKey, list[Part]], made_at: dict[TurnKey, datetime]
) -> None:
    """Keep what turns have added; of those only repriced, where it still is kept."""
    texts = {key: orjson.dumps(parts).decode() for key, parts in latest.items()}
    made = [
        AmendableRow(
            session=session,
            turn_id=turn_id,
            recorded_at=at,
            parts=texts.pop((session, turn_id)),
        )
        for (session, turn_id), at in made_at.items()
    ]
    if made:
        await keep_amendable(db, made)
    if texts:
        await reprice_amendable(db, texts)


def _shares(turn: Any) -> Sequence[Any]:
    return turn.shares or [{name: getattr(turn, name) for name in SHARE}]


def _replaced_shares(turn: ChatSession.TurnRepriced) -> Sequence[Any]:
    """Return the shares of a turn as they were priced before."""
    return [
        {**share, **charge}
        for share, charge in zip(
            _shares(turn), turn.replaced_shares or [turn.replaced], strict=True
        )
    ]


def _charge(turn: Any) -> Mapping[str, Any]:
    return {name: getattr(turn, name) for name in CHARGE}


def _parts(turn: Any, shares: Sequence[Any], charge: Mapping[str, Any]) -> list[Part]:
    """Return what a turn adds to the rows: one part for each model.

    The turn itself is counted once, for the model with the most tokens.
    """
    differs = _differs(charge, turn.reported_cost)
    common = {
        "quarter": _quarter(turn.started_at),
        "agent_id": turn.agent_id,
        "user_id": turn.user_id,
    }
    parts: list[Part] = []
    for share in shares:
        is_estimate = bool(share["estimated"]) and share["cost"] is not None
        told = {
            **{name: share[name] for name in (*TOKENS, "reported_cost")},
            "difference": _difference(share),
        }
        is_turn = not any(part["turns"] for part in parts) and (
            (share["provider"], share["model"]) == (turn.provider, turn.model)
        )
        has_call = bool(share["model"] or share["cost"] or share["unpriced"])
        parts.append(
            {
                **common,
                **{name: share[name] for name in NAMES},
                "turns": int(is_turn),
                "turns_with_error": int(is_turn and turn.is_error),
                "turns_without_price": int(
                    is_turn and any(each["unpriced"] for each in shares)
                ),
                "turns_without_usage": int(
                    is_turn and any(_lacks_usage(each) for each in shares)
                ),
                "model_uses": int(has_call),
                "uses_without_usage": int(_lacks_usage(share)),
                "turns_with_differing_cost": int(is_turn and differs),
                "uses_estimated": int(is_estimate),
                **{TELLING[name]: int(told[name] is not None) for name in TELLING},
                **told,
                "cost": share["cost"],
                "estimated_cost": share["cost"] if is_estimate else None,
                "differing_cost": charge["cost"] if is_turn and differs else None,
                "differing_reported_cost": (
                    turn.reported_cost if is_turn and differs else None
                ),
            }
        )
    return parts


def _quarter(started_at: str) -> str:
    """Return the start of the quarter of an hour, in UTC."""
    at = datetime.fromisoformat(started_at).astimezone(UTC)
    return (at - (at - datetime.min.replace(tzinfo=UTC)) % QUARTER).isoformat()


def _lacks_usage(share: Any) -> bool:
    """Return whether a model was called, but its tokens aren't all known."""
    has_call = bool(share["cost"] or share["unpriced"] or share["model"])
    return has_call and (
        share["prompt_tokens"] is None or share["completion_tokens"] is None
    )


def _differs(charge: Mapping[str, Any], reported_cost: str | None) -> bool:
    if reported_cost is None or charge["cost"] is None:
        return False
    list_cost = charge["list_cost"]
    return costs_differ(
        Decimal(charge["cost"]),
        charge["currency"],
        Decimal(reported_cost),
        list_cost=None if list_cost is None else Decimal(list_cost),
        list_currency=charge["list_currency"],
    )


def _difference(share: Any) -> str | None:
    """Return the reported cost minus ours, if both are known in one currency."""
    if share["reported_cost"] is None or share["currency"] != REPORTED_IN:
        return None
    ours = Decimal(share["cost"])
    return format(EXACT.subtract(Decimal(share["reported_cost"]), ours), "f")


def _add(rows: dict[Key, UsageRow], parts: Sequence[Part], *, sign: int) -> None:
    for part in parts:
        ids = part["agent_id"], part["user_id"]
        names = {name: part[name] for name in NAMES}
        key = (part["quarter"], *ids, *names.values())
        row = rows.get(key)
        if row is None:
            row = rows[key] = UsageRow(
                quarter=datetime.fromisoformat(part["quarter"]),
                agent_id=UUID(part["agent_id"]),
                user_id=UUID(part["user_id"]),
                **names,
            )
        for name in COUNTS:
            setattr(row, name, getattr(row, name) + sign * part[name])
        for name in (*SUMS, *COSTS):
            if part[name] is not None:
                amount = Decimal(part[name]) * sign
                setattr(row, name, EXACT.add(getattr(row, name) or 0, amount))
