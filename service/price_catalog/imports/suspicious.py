"""Which changes of a price look like an error of its list."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from service.price_catalog.charge import Unpriced
from service.price_catalog.imports.price_notes import written
from service.price_catalog.imports.usual_usages import (
    FLAT,
    condition_of,
    costs,
    described,
    usual_costs,
)
from service.price_catalog.periods import PriceValues
from service.price_catalog.structure import Rate
from service.price_catalog.usage import UNITS

SUSPICIOUS_FACTOR = 5


# What a usual model call costs at most, in the currency of the list.
USUAL_COST_MAX = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A unit's price, or the cost of a usual model call, that looks like an error.

    ``condition`` is empty where there is none; None is an unknown amount.
    """

    subject: str
    condition: str
    before: Decimal | None
    after: Decimal | None

    def __str__(self) -> str:
        subject = (
            f"{self.subject} ({self.condition})" if self.condition else self.subject
        )
        if self.before is None and self.after is None:
            return subject
        before, after = map(_text, (self.before, self.after))
        return f"{subject}: {before} before, {after} after"


def _text(amount: Decimal | None) -> str:
    return "none" if amount is None else written(amount)


@dataclass(frozen=True, slots=True)
class _Amount:
    """A price of a unit, its names, and what they mean."""

    names: tuple[str, ...]
    subject: str
    condition: str
    value: Decimal


def doubt_of_change(before: PriceValues, after: PriceValues) -> Doubt | None:
    """Return the first reason to doubt a change: one that is too large.

    Of the currency, of an amount that both state, or of what a usual model call costs;
    an amount that is no longer stated, or that is absurd and wasn't.
    """
    return next(_doubts(before, after), None)


def doubt_of_first(price: PriceValues) -> Doubt | None:
    """Return why to doubt a first price: a usual model call costs more than any."""
    return next(_absurd(price), None)


def _doubts(before: PriceValues, after: PriceValues) -> Iterator[Doubt]:
    if before["currency"] != after["currency"]:
        subject = f"currency: {after['currency']} instead of {before['currency']}"
        yield Doubt(subject=subject, condition="", before=None, after=None)
    old, new = list(_amounts(before)), list(_amounts(after))
    known = {name: amount for amount in old for name in amount.names}
    for amount in new:
        was = next((known[name] for name in amount.names if name in known), amount)
        if _is_large_change(was.value, amount.value):
            yield _doubt(amount, was.value, amount.value)
    stated = {name for amount in new for name in amount.names}
    for amount in old:
        if stated.isdisjoint(amount.names):
            yield _doubt(amount, amount.value, None)
    for usage, condition, cost, changed in costs(before, after):
        if _is_doubtful(cost, changed):
            yield Doubt(
                subject=f"cost of {described(usage)}",
                condition=condition,
                before=cost if isinstance(cost, Decimal) else None,
                after=changed if isinstance(changed, Decimal) else None,
            )
    earlier = {(each.subject, each.condition) for each in _absurd(before)}
    for absurd in _absurd(after):
        if (absurd.subject, absurd.condition) not in earlier:
            yield absurd


def _is_doubtful(cost: Decimal | Unpriced, new: Decimal | Unpriced) -> bool:
    if isinstance(cost, Unpriced):
        return not isinstance(new, Unpriced) and new > USUAL_COST_MAX
    return isinstance(new, Unpriced) or _is_large_change(cost, new)


def _absurd(price: PriceValues) -> Iterator[Doubt]:
    for usage, condition, cost in usual_costs(price):
        if cost > USUAL_COST_MAX:
            yield Doubt(
                subject=f"cost of {described(usage)}",
                condition=condition,
                before=None,
                after=cost,
            )


def _doubt(amount: _Amount, before: Decimal, after: Decimal | None) -> Doubt:
    return Doubt(
        subject=f"price of {amount.subject}",
        condition=amount.condition,
        before=before,
        after=after,
    )


def _is_large_change(old: Decimal, new: Decimal) -> bool:
    return new > SUSPICIOUS_FACTOR * old or old > SUSPICIOUS_FACTOR * new


def _amounts(price: PriceValues) -> Iterator[_Amount]:
    """Yield the known amounts, also those of the structure, by name.

    The amount of a variant has a second name, without its start and hours: a new one
    is compared with the newest that has the same conditions.
    """
    structure = price["structure"]
    flat: Mapping[str, object] = price
    for unit, name in FLAT.items():
        if flat[name] is not None:
            names = (name,) if structure else (name, _name((), unit))
            yield _Amount(names, _subject(unit), "", Decimal(str(flat[name])))
    if structure is None:
        return
    yield from _amounts_of(structure["rates"], "", ())
    for window in structure["windows"]:
        hours = window["hours"]
        yield from _amounts_of(window["rates"], condition_of({}, hours), hours)
    for variant in sorted(structure["variants"], key=lambda each: each["since"] or ""):
        when = variant["when"], variant["since"], variant["hours"]
        condition = condition_of(variant["when"], variant["hours"])
        yield from _amounts_of(variant["rates"], condition, when, variant["when"])


def _amounts_of(
    rates: Mapping[str, Rate], condition: str, *whens: object
) -> Iterator[_Amount]:
    for unit, rate in rates.items():
        names = tuple(_name(when, unit) for when in whens)
        subject = _subject(unit)
        yield _Amount(names, subject, condition, Decimal(rate["price"]))
        for tier in rate["tiers"]:
            long = f"{subject} above {tier['above']:,} input tokens"
            names = tuple(_name(when, unit, tier["above"]) for when in whens)
            yield _Amount(names, long, condition, Decimal(tier["price"]))


def _subject(unit: str) -> str:
    return f"{UNITS[unit].per:,} {unit}"


def _name(*parts: object) -> str:
    return json.dumps(parts, sort_keys=True)
