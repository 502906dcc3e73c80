"""Which changes of a price look like an error of its list."""

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal

from service.price_catalog.periods import PriceValues
from service.price_catalog.structure import Rate

SUSPICIOUS_FACTOR = 5


def is_suspicious(before: PriceValues, after: PriceValues) -> bool:
    """Return whether the currency or any amount that both state changes too much."""
    if before["currency"] != after["currency"]:
        return True
    old, new = dict(_amounts(before)), dict(_amounts(after))
    return any(_is_large_change(old[name], new[name]) for name in old.keys() & new)


def _is_large_change(old: Decimal, new: Decimal) -> bool:
    return new > SUSPICIOUS_FACTOR * old or old > SUSPICIOUS_FACTOR * new


def _amounts(price: PriceValues) -> Iterator[tuple[str, Decimal]]:
    """Yield the known amounts, also those of the structure, by name."""
    for name, value in price.items():
        if name.endswith("price_per_1m") and value is not None:
            yield name, Decimal(str(value))
    structure = price["structure"]
    if structure is None:
        return
    yield from _amounts_of(structure["rates"])
    for window in structure["windows"]:
        yield from _amounts_of(window["rates"], window["hours"])
    for variant in structure["variants"]:
        when = variant["when"], variant["since"], variant["hours"]
        yield from _amounts_of(variant["rates"], when)


def _amounts_of(
    rates: Mapping[str, Rate], when: object = ()
) -> Iterator[tuple[str, Decimal]]:
    place = json.dumps(when, sort_keys=True)
    for unit, rate in rates.items():
        yield f"{place} {unit}", Decimal(rate["price"])
        for tier in rate["tiers"]:
            yield f"{place} {unit} {tier['above']}", Decimal(tier["price"])
