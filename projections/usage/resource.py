"""Usage in the form of the API."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from typing_extensions import TypedDict

from projections.usage.completeness import (
    Completeness,
    CurrencyCost,
    completeness,
    known_costs,
)
from projections.usage.form import Form, Period
from projections.usage.parameters import zone_of
from projections.usage.queries import UsageOfGroup
from projections.usage.sums import COUNTS, SUMS, TELLING
from service.price_catalog.charge import EXACT, ROUNDED
from service.sessions.cost import SEVERAL_CURRENCIES, UnpricedReason

BY_CURRENCY: Final = ("costs", "estimated_costs", "uses")


class TokenSums(TypedDict):
    total: int | None
    prompt: int | None
    completion: int | None
    cache_read: int | None
    cache_creation: int | None


class UnpricedUses(TypedDict):
    """Why model calls have no cost, and in how many turns, counted for each model."""

    reason: UnpricedReason
    turns: int


class UsageBefore(TypedDict):
    """The sums of a group in the period before."""

    turns: int
    total_tokens: int | None
    cost: Decimal | None
    currency: str | None
    known_costs: list[CurrencyCost]
    cost_unknown_because: list[UnpricedReason]


class UnitCosts(TypedDict):
    """The cost divided, to 28 digits; null if it isn't known, or there are none.

    `sessions` have a turn in the group, with `users`.
    """

    sessions: int
    users: int
    per_turn: Decimal | None
    per_session: Decimal | None
    per_user: Decimal | None


class DifferingTurns(TypedDict):
    """Turns whose cost differs by more than 1 % from what is reported.

    `cost` is their sum, `reported_cost` that of what is reported, in US dollars.
    """

    turns: int
    cost: Decimal | None
    reported_cost: float | None


class UsageSums(TypedDict):
    turns: int
    turns_with_error: int
    turns_without_price: int
    unpriced: list[UnpricedUses]
    turns_without_usage: int
    token_usage: TokenSums
    known_token_usage: TokenSums
    cost: Decimal | None
    currency: str | None
    known_costs: list[CurrencyCost]
    cost_unknown_because: list[UnpricedReason]
    completeness: Completeness
    reported_cost: float | None
    reported_cost_difference: float | None
    differing: DifferingTurns
    before: UsageBefore | None
    unit_costs: UnitCosts | None


class Usage(UsageSums):
    starts_at: datetime | None
    day: date | None
    agent_id: UUID | None
    user_id: UUID | None
    provider: str | None
    model: str | None
    priced_as: str | None
    pricing_rule: str | None
    is_other: bool


class UsagePage(TypedDict):
    usage: list[Usage]
    totals: UsageSums
    others: UsageSums | None
    groups: int | None
    from_day: date
    until_day: date
    time_zone: str
    has_next_page: bool


def usage_resource(group: UsageOfGroup, form: Form, zone: str) -> Usage:
    return {
        "starts_at": group.starts_at,
        "day": _day(group.starts_at, form.period, zone),
        "agent_id": group.agent_id,
        "user_id": group.user_id,
        "provider": group.provider,
        "model": group.model,
        "priced_as": group.priced_as,
        "pricing_rule": group.pricing_rule,
        "is_other": group.is_other,
        **usage_sums(group, form),
    }


def _day(starts_at: datetime | None, period: Period | None, zone: str) -> date | None:
    if starts_at is None or period == "hour":
        return None
    return starts_at.astimezone(zone_of(zone)).date()


def usage_sums(group: UsageOfGroup, form: Form) -> UsageSums:
    known = known_costs(group.currencies, group.costs)
    reasons = _reasons(group.unpriced, group.currencies)
    is_complete = known and not reasons
    prompt: Any = group.prompt_tokens
    completion: Any = group.completion_tokens
    cache_read: Any = group.cache_read_tokens
    cache_creation: Any = group.cache_creation_tokens
    reported: Any = group.reported_cost
    difference: Any = group.difference
    # What was taken back leaves 0.
    does_differ = group.turns_with_differing_cost > 0
    differing_reported: Any = group.differing_reported_cost if does_differ else None
    tokens: TokenSums = {
        "total": _sum(prompt, completion),
        "prompt": prompt,
        "completion": completion,
        "cache_read": cache_read,
        "cache_creation": cache_creation,
    }
    cost = known[0]["cost"] if is_complete else None
    return {
        "turns": group.turns,
        "turns_with_error": group.turns_with_error,
        "turns_without_price": group.turns_without_price,
        "unpriced": [
            {"reason": reason, "turns": turns}
            for reason, turns in group.unpriced.items()
        ],
        "turns_without_usage": group.turns_without_usage,
        "token_usage": (
            {**tokens, "total": None, "prompt": None, "completion": None}
            if group.uses_without_usage
            else tokens
        ),
        "known_token_usage": tokens,
        "cost": cost,
        "currency": known[0]["currency"] if is_complete else None,
        "known_costs": known,
        "cost_unknown_because": reasons,
        "completeness": completeness(group),
        "reported_cost": reported,
        "reported_cost_difference": difference,
        "differing": {
            "turns": group.turns_with_differing_cost,
            "cost": group.differing_cost if does_differ else None,
            "reported_cost": differing_reported,
        },
        "before": _before(group) if form.compare else None,
        "unit_costs": _unit_costs(group, cost),
    }


def others(total: UsageOfGroup, shown: Sequence[UsageOfGroup]) -> UsageOfGroup:
    """Return the sums of the groups that a page doesn't show."""
    rest = UsageOfGroup()
    for name in (*COUNTS, *SUMS):
        left = getattr(total, name)
        for group in shown:
            part = getattr(group, name)
            if part:
                left = EXACT.subtract(Decimal(left), Decimal(part))
        setattr(rest, name, int(left) if name in COUNTS else left)
    for name, uses in TELLING.items():
        if not getattr(rest, uses):
            setattr(rest, name, None)
    unpriced = Counter(total.unpriced)
    for group in shown:
        unpriced.subtract(group.unpriced)
    rest.unpriced = {reason: turns for reason, turns in unpriced.items() if turns}
    left = {name: _rest(name, total, shown) for name in BY_CURRENCY}
    rest.currencies = [name for name, uses in left["uses"].items() if uses]
    for name, amounts in left.items():
        setattr(rest, name, [amounts[currency] for currency in rest.currencies])
    return rest


def _rest(
    name: str, total: UsageOfGroup, shown: Sequence[UsageOfGroup]
) -> dict[str, Decimal]:
    """Return what is left of amounts, for each currency of the total."""
    left = dict(zip(total.currencies, getattr(total, name), strict=True))
    for group in shown:
        for currency, amount in zip(
            group.currencies, getattr(group, name), strict=True
        ):
            left[currency] = EXACT.subtract(left[currency], amount)
    return left


def _reasons(
    unpriced: Iterable[UnpricedReason], currencies: Sequence[str]
) -> list[UnpricedReason]:
    reasons = list(unpriced)
    if len(currencies) > 1:
        reasons.append(SEVERAL_CURRENCIES)
    return reasons


def _before(group: UsageOfGroup) -> UsageBefore:
    known = known_costs(group.currencies_before, group.costs_before)
    reasons = _reasons(group.unpriced_before, group.currencies_before)
    is_complete = known and not reasons
    tokens: Any = _sum(group.prompt_tokens_before, group.completion_tokens_before)
    return {
        "turns": group.turns_before,
        "total_tokens": None if group.uses_without_usage_before else tokens,
        "cost": known[0]["cost"] if is_complete else None,
        "currency": known[0]["currency"] if is_complete else None,
        "known_costs": known,
        "cost_unknown_because": reasons,
    }


def _unit_costs(group: UsageOfGroup, cost: Decimal | None) -> UnitCosts | None:
    if group.units is None:
        return None

    def per(units: int) -> Decimal | None:
        if cost is None or not units:
            return None
        return ROUNDED.divide(cost, Decimal(units))

    return {
        "sessions": group.units.sessions,
        "users": group.units.users,
        "per_turn": per(group.turns),
        "per_session": per(group.units.sessions),
        "per_user": per(group.units.users),
    }


def _sum(prompt: Any, completion: Any) -> Any:
    if prompt is None and completion is None:
        return None
    return (prompt or 0) + (completion or 0)
