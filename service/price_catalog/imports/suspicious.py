"""Which changes of a price look like an error of its list."""

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal

from service.price_catalog.charge import Unpriced
from service.price_catalog.imports.usual_usages import costs, usual_costs
from service.price_catalog.periods import PriceValues
from service.price_catalog.structure import Rate

SUSPICIOUS_FACTOR = 5


# What a usual model call costs at most, in the currency of the list.
USUAL_COST_MAX = 10


def is_suspicious(before: PriceValues, after: PriceValues) -> bool:
    """Return whether the currency, or what usual model calls cost, changes too much.

    Or any amount that both state; or if a cost that was known no longer is.
    """
    if before["currency"] != after["currency"]:
        return True
    old = {name: amount for names, amount in _amounts(before) for name in names}
    for names, amount in _amounts(after):
        known = next((old[name] for name in names if name in old), amount)
        if _is_large_change(known, amount):
            return True
    return any(_is_doubtful(cost, new) for cost, new in costs(before, after))


def _is_doubtful(cost: Decimal | Unpriced, new: Decimal | Unpriced) -> bool:
    if isinstance(cost, Unpriced):
        return not isinstance(new, Unpriced) and new > USUAL_COST_MAX
    return isinstance(new, Unpriced) or _is_large_change(cost, new)


def is_absurd(price: PriceValues) -> bool:
    """Return whether a usual model call would cost more than any does."""
    return any(cost > USUAL_COST_MAX for cost in usual_costs(price))


def _is_large_change(old: Decimal, new: Decimal) -> bool:
    return new > SUSPICIOUS_FACTOR * old or old > SUSPICIOUS_FACTOR * new


def _amounts(price: PriceValues) -> Iterator[tuple[list[str], Decimal]]:
    """Yield the known amounts, also those of the structure, by name.

    The amount of a variant has a second name, without its start and hours: a new one
    is compared with the newest that has the same conditions.
    """
    for name, value in price.items():
        if name.endswith("price_per_1m") and value is not None:
            yield [name], Decimal(str(value))
    structure = price["structure"]
    if structure is None:
        return
    yield from _amounts_of(structure["rates"])
    for window in structure["windows"]:
        yield from _amounts_of(window["rates"], window["hours"])
    for variant in sorted(structure["variants"], key=lambda each: each["since"] or ""):
        when = variant["when"], variant["since"], variant["hours"]
        yield from _amounts_of(variant["rates"], when, variant["when"])


def _amounts_of(
    rates: Mapping[str, Rate], *whens: object
) -> Iterator[tuple[list[str], Decimal]]:
    prefixes = [json.dumps(when, sort_keys=True) for when in whens or [()]]
    for unit, rate in rates.items():
        yield [f"{prefix} {unit}" for prefix in prefixes], Decimal(rate["price"])
        for tier in rate["tiers"]:
            names = [f"{prefix} {unit} {tier['above']}" for prefix in prefixes]
            yield names, Decimal(tier["price"])
