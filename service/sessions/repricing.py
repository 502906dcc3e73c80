"""Reprice recorded turns by the prices that the catalog has now."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from service.event_log.unit_of_work import UnitOfWork
from service.sessions.aggregate import ChatSession
from service.sessions.cost import charge_of_turn
from service.sessions.policy import refuse_unless_may_reprice
from service.sessions.recorded_calls import RecordedTurn
from service.sessions.turn import RecordedShare, charge_in, recorded_share


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

    @property
    def changed(self) -> bool:
        return self.after is not None and _charges(self.before) != _charges(self.after)


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
    for turn in command.turns:
        outcome = Repriced(turn, await _repriced(turn, work))
        outcomes.append(outcome)
        if outcome.changed and not command.dry_run:
            assert outcome.after is not None
            session.reprice_turn(turn, outcome.after)
        # Other requests run between two turns: a turn may have thousands of calls.
        await asyncio.sleep(0)
    work.save(session)
    return outcomes


async def _repriced(recorded: RecordedTurn, work: UnitOfWork) -> RecordedTurn | None:
    if not recorded.is_repriceable:
        return None
    turn = recorded.turn()
    charge, priced = await charge_of_turn(turn, work)
    used: RecordedShare = {
        **recorded_share(turn, charge),
        "reported_cost": recorded.used["reported_cost"],
    }
    shares = recorded.shares and [
        recorded_share(part.share, part.charge) for part in priced
    ]
    return replace(recorded, used=used, shares=shares)


def _charges(turn: RecordedTurn) -> list[dict[str, Any]]:
    """Return how a turn and its shares are priced, in a form that compares."""
    return [_comparable(used) for used in (turn.used, *(turn.shares or ()))]


def _comparable(used: RecordedShare) -> dict[str, Any]:
    cost = used["cost"]
    charge: dict[str, Any] = dict(charge_in(used))
    return {**charge, "cost": None if cost is None else Decimal(cost)}
