"""Usage in the form of the API."""

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from typing_extensions import TypedDict

from projections.usage.form import Form, Period
from projections.usage.parameters import zone_of
from projections.usage.queries import UsageOfGroup
from service.price_catalog.charge import EXACT, ROUNDED
from service.sessions.cost import UnpricedReason

ADDED: Final = (
    "turns",
    "turns_with_error",
    "turns_without_price",
    "turns_without_usage",
    "uses_without_usage",
    "prompt_tokens",
    "completion_tokens",
    "cache_read_tokens",
    "cache_creation_tokens",
    "reported_cost",
    "difference",
)


class TokenSums(TypedDict):
    total: int | None
    prompt: int | None
    completion: int | None
    cache_read: int | None
    cache_creation: int | None


class CurrencyCost(TypedDict):
    currency: str
    cost: Decimal


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


class UnitCosts(TypedDict):
    """The cost divided, to 28 digits; null if it isn't known, or there are none.

    `sessions` have a turn in the group, with `users`.
    """

    sessions: int
    users: int
    per_turn: Decimal | None
    per_session: Decimal | None
    per_user: Decimal | None


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
    reported_cost: float | None
    reported_cost_difference: float | None
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
    known = _known(group.currencies, group.costs)
    is_complete = len(known) == 1 and not group.unpriced
    prompt: Any = group.prompt_tokens
    completion: Any = group.completion_tokens
    cache_read: Any = group.cache_read_tokens
    cache_creation: Any = group.cache_creation_tokens
    reported: Any = group.reported_cost
    difference: Any = group.difference
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
        "reported_cost": reported,
        "reported_cost_difference": difference,
        "before": _before(group) if form.compare else None,
        "unit_costs": _unit_costs(group, cost),
    }


def others(total: UsageOfGroup, shown: Sequence[UsageOfGroup]) -> UsageOfGroup:
    """Return the sums of the groups that a page doesn't show."""
    rest = UsageOfGroup()
    for name in ADDED:
        left = getattr(total, name)
        for group in shown:
            part = getattr(group, name)
            if part:
                left = EXACT.subtract(Decimal(left), Decimal(part))
        is_count = isinstance(getattr(total, name), int)
        setattr(rest, name, int(left) if is_count else left)
    unpriced = Counter(total.unpriced)
    costs = dict(zip(total.currencies, total.costs, strict=True))
    for group in shown:
        unpriced.subtract(group.unpriced)
        for currency, cost in zip(group.currencies, group.costs, strict=True):
            costs[currency] = EXACT.subtract(costs[currency], cost)
    rest.unpriced = {reason: turns for reason, turns in unpriced.items() if turns}
    rest.currencies, rest.costs = list(costs), list(costs.values())
    return rest


def _before(group: UsageOfGroup) -> UsageBefore:
    known = _known(group.currencies_before, group.costs_before)
    is_complete = len(known) == 1 and not group.unpriced_before
    tokens: Any = _sum(group.prompt_tokens_before, group.completion_tokens_before)
    return {
        "turns": group.turns_before,
        "total_tokens": None if group.uses_without_usage_before else tokens,
        "cost": known[0]["cost"] if is_complete else None,
        "currency": known[0]["currency"] if is_complete else None,
        "known_costs": known,
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


def _known(currencies: Sequence[str], costs: Sequence[Decimal]) -> list[CurrencyCost]:
    return [
        {"currency": currency, "cost": cost}
        for currency, cost in zip(currencies, costs, strict=True)
    ]


def _sum(prompt: Any, completion: Any) -> Any:
    if prompt is None and completion is None:
        return None
    return (prompt or 0) + (completion or 0)
