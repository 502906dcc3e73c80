"""The changes by repricing, or by a dry run, for each day, agent and model."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

from typing_extensions import TypedDict

from service.pacing import Pace
from service.price_catalog.charge import EXACT
from service.sessions.repricing import Repriced, comparable_charge
from service.sessions.repricing_page import TurnPosition
from service.sessions.turn import RecordedShare


class RepricedUsage(TypedDict):
    """The turns of a day and an agent in which a model has another cost or price.

    A turn with several models counts for each of them that changes. `old_cost` sums up
    the turns that had a cost, `new_cost` those that have one now; null if none has. If
    the currency changes, each has a row of its own, and the turns count in the row of
    the new one.
    """

    day: date
    agent_id: UUID
    provider: str | None
    model: str | None
    currency: str | None
    old_cost: Decimal | None
    new_cost: Decimal | None
    turns_changed: int
    turns_getting_a_price: int
    turns_losing_their_price: int


class NextTurns(TypedDict):
    started_at: datetime
    session: UUID
    version: int


class RepricingReport(TypedDict):
    """What repricing changes or would change, for one request's turns.

    `turns_not_repriceable` were recorded by a version that didn't record their model
    calls, `turns_skipped` belong to sessions that changed meanwhile: repeat the
    request.
    """

    dry_run: bool
    turns: int
    turns_changed: int
    turns_not_repriceable: int
    turns_skipped: int
    differences: list[RepricedUsage]
    next: NextTurns | None


Key = tuple[date, UUID, str | None, str | None, str | None]


@dataclass(slots=True)
class Report:
    dry_run: bool
    turns: int = 0
    turns_changed: int = 0
    turns_not_repriceable: int = 0
    turns_skipped: int = 0
    rows: dict[Key, RepricedUsage] = field(default_factory=dict)

    async def add(self, agent_id: UUID, outcomes: Iterable[Repriced]) -> None:
        pace = Pace()
        for outcome in outcomes:
            self.turns += 1
            if outcome.after is None:
                self.turns_not_repriceable += 1
            elif outcome.changed:
                self.turns_changed += 1
                for models in zip(
                    outcome.before.models, outcome.after.models, strict=True
                ):
                    self._add_change(agent_id, outcome.before.started_at, *models)
                    await pace.pause()

    def skip(self, turns: int) -> None:
        """Count turns of a session that changed since it was read."""
        self.turns += turns
        self.turns_skipped += turns

    def resource(self, last: TurnPosition | None) -> RepricingReport:
        return {
            "dry_run": self.dry_run,
            "turns": self.turns,
            "turns_changed": self.turns_changed,
            "turns_not_repriceable": self.turns_not_repriceable,
            "turns_skipped": self.turns_skipped,
            "differences": list(self.rows.values()),
            "next": None if last is None else _next(last),
        }

    def _add_change(
        self,
        agent_id: UUID,
        started_at: datetime,
        before: RecordedShare,
        after: RecordedShare,
    ) -> None:
        if comparable_charge(before) == comparable_charge(after):
            return
        day = started_at.astimezone(UTC).date()
        old, new = before["cost"], after["cost"]
        had, has = before["currency"], after["currency"]
        row = self._row(day, agent_id, after, has or had)
        if new is not None:
            row["new_cost"] = _added(row["new_cost"], new)
        if old is not None:
            old_row = self._row(day, agent_id, before, had)
            old_row["old_cost"] = _added(old_row["old_cost"], old)
        row["turns_changed"] += 1
        row["turns_getting_a_price"] += old is None and new is not None
        row["turns_losing_their_price"] += old is not None and new is None

    def _row(
        self, day: date, agent_id: UUID, used: RecordedShare, currency: str | None
    ) -> RepricedUsage:
        provider, model = used["provider"], used["model"]
        return self.rows.setdefault(
            (day, agent_id, provider, model, currency),
            {
                "day": day,
                "agent_id": agent_id,
                "provider": provider,
                "model": model,
                "currency": currency,
                "old_cost": None,
                "new_cost": None,
                "turns_changed": 0,
                "turns_getting_a_price": 0,
                "turns_losing_their_price": 0,
            },
        )


def _next(last: TurnPosition) -> NextTurns:
    return {
        "started_at": last.started_at.astimezone(UTC),
        "session": last.session,
        "version": last.version,
    }


def _added(total: Decimal | None, cost: str) -> Decimal:
    return EXACT.add(total or Decimal(0), Decimal(cost))
