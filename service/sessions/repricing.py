"""Reprice recorded turns by the prices that the catalog has now."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from service.event_log.unit_of_work import UnitOfWork
from service.pacing import Pace, computed
from service.price_catalog.charge import Charge
from service.sessions.aggregate import ChatSession
from service.sessions.cost import charge_of_turn
from service.sessions.policy import refuse_unless_may_reprice
from service.sessions.recorded_calls import RecordedTurn
from service.sessions.turn import (
    PricedShare,
    RecordedShare,
    Turn,
    charge_in,
    recorded_share,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepriceSession:
    """Some turns of a session, as it was at ``version``."""

    session: UUID
    version: int
    turns: Sequence[RecordedTurn]
    dry_run: bool


@dataclass(frozen=True, slots=True)
class Repriced:
    """A turn before and after; ``after`` is None if it can't be repriced."""

    before: RecordedTurn
    after: RecordedTurn | None
    changed: bool = False


async def reprice_session(
    command: RepriceSession, work: UnitOfWork
) -> list[Repriced] | None:
    """Price turns again and record those that change, unless it is a dry run.

    Returns None if the session has changed since its turns were read.

    :raises ForbiddenError: the caller is no superuser
    """
    refuse_unless_may_reprice(work.principal)
    session = await work.load(ChatSession, command.session)
    if session.version != command.version:
        return None
    outcomes = []
    pace = Pace()
    for turn in command.turns:
        outcome = await _repriced(turn, work)
        outcomes.append(outcome)
        if outcome.changed and not command.dry_run:
            assert outcome.after is not None
            session.reprice_turn(turn, outcome.after)
        await pace.pause()
    work.save(session)
    return outcomes


async def _repriced(recorded: RecordedTurn, work: UnitOfWork) -> Repriced:
    if not recorded.is_repriceable:
        return Repriced(recorded, None)
    calls = len(recorded.calls or ())
    turn = await computed(calls, recorded.turn)
    charge, priced = await charge_of_turn(turn, work)
    return await computed(calls, _compared, recorded, turn, charge, priced)


def _compared(
    recorded: RecordedTurn, turn: Turn, charge: Charge, priced: Sequence[PricedShare]
) -> Repriced:
    used: RecordedShare = {
        **recorded_share(turn, charge),
        "reported_cost": recorded.used["reported_cost"],
    }
    shares = recorded.shares and [
        recorded_share(part.share, part.charge) for part in priced
    ]
    after = replace(recorded, used=used, shares=shares)
    uses = zip(
        (recorded.used, *recorded.models), (after.used, *after.models), strict=True
    )
    changed = any(
        comparable_charge(before) != comparable_charge(now) for before, now in uses
    )
    return Repriced(recorded, after, changed)


def comparable_charge(used: RecordedShare) -> dict[str, Any]:
    """Return how a turn or a share is priced, in a form that compares."""
    charge: dict[str, Any] = dict(charge_in(used))
    for name in ("cost", "list_cost"):
        if charge[name] is not None:
            charge[name] = Decimal(charge[name])
    return charge
