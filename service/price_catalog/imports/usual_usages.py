"""What usual model calls would cost by two prices, to find what changes too much."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import islice, product
from typing import Final

from service.price_catalog.charge import Unpriced, amount_of
from service.price_catalog.periods import PriceValues
from service.price_catalog.structure import Hours, Rate, Structure, rates_at
from service.price_catalog.usage import ModelCallUsage

# All of a price's variants have begun by then.
MONDAY: Final = datetime(2100, 1, 4, tzinfo=UTC)
# Of those that two prices distinguish, those of the new one first.
LENGTHS_MAX: Final = 20
MOMENTS_MAX: Final = 60
CONDITIONS_MAX: Final = 20
USUAL: Final = (
    ModelCallUsage(input_tokens=1_000, output_tokens=300),
    ModelCallUsage(
        input_tokens=10_000,
        output_tokens=300,
        cache_read_tokens=8_000,
        cache_write_tokens=1_000,
    ),
)
# What has a price of its own, alone: in a mixture its change may not show.
PARTS: Final = (
    ModelCallUsage(input_tokens=10_000, output_tokens=0),
    ModelCallUsage(input_tokens=0, output_tokens=10_000),
    ModelCallUsage(
        input_tokens=0, output_tokens=10_000, output_reasoning_tokens=10_000
    ),
    ModelCallUsage(input_tokens=10_000, output_tokens=0, cache_read_tokens=10_000),
    ModelCallUsage(input_tokens=10_000, output_tokens=0, cache_write_tokens=10_000),
    ModelCallUsage(
        input_tokens=10_000,
        output_tokens=0,
        cache_write_tokens=10_000,
        cache_write_1h_tokens=10_000,
    ),
)
FLAT: Final = {
    "input_tokens": "input_price_per_1m",
    "output_tokens": "output_price_per_1m",
    "cache_read_tokens": "cache_read_price_per_1m",
    "cache_write_tokens": "cache_creation_price_per_1m",
}


def costs(
    before: PriceValues, after: PriceValues
) -> Iterator[tuple[Decimal | Unpriced, Decimal | Unpriced]]:
    """Yield what usual model calls cost by each of two prices.

    Plain, cached and long ones, in batches and tiers, at each of the prices' hours.
    """
    prices = [each for each in (after["structure"], before["structure"]) if each]
    usages = [*USUAL, *PARTS, *_long(prices)]
    moments = list(dict.fromkeys(_moments(prices)))[:MOMENTS_MAX]
    for when, at in product(islice(_conditions(prices), CONDITIONS_MAX), moments):
        old, new = _rates(before, at, when), _rates(after, at, when)
        if old != new:
            for usage in usages:
                yield amount_of(old, usage), amount_of(new, usage)


def usual_costs(price: PriceValues) -> Iterator[Decimal]:
    """Yield what plain and cached model calls cost, as far as that is known."""
    rates = _rates(price, MONDAY, {})
    for usage in (*USUAL, *PARTS):
        amount = amount_of(rates, usage)
        if isinstance(amount, Decimal):
            yield amount


def _rates(
    price: PriceValues, at: datetime, when: Mapping[str, str]
) -> dict[str, Rate]:
    if price["structure"] is not None:
        return rates_at(price["structure"], at, when)
    flat: Mapping[str, object] = price
    return {
        unit: {"price": str(flat[name]), "tiers": []}
        for unit, name in FLAT.items()
        if flat[name] is not None
    }


def _long(prices: Iterable[Structure]) -> Iterator[ModelCallUsage]:
    """Yield model calls just above each tier, and longer than usual ones."""
    lengths = dict.fromkeys(
        tier["above"] + 1
        for structure in prices
        for part in (structure, *structure["windows"], *structure["variants"])
        for rate in part["rates"].values()
        for tier in rate["tiers"]
    )
    for length in islice(lengths, LENGTHS_MAX):
        yield ModelCallUsage(input_tokens=length, output_tokens=1_000)
        yield ModelCallUsage(input_tokens=length, output_tokens=length)
        yield ModelCallUsage(
            input_tokens=length, output_tokens=0, cache_read_tokens=length
        )


def _conditions(prices: Iterable[Structure]) -> Iterator[Mapping[str, str]]:
    found: dict[tuple[tuple[str, str], ...], None] = {(): None}
    for structure in prices:
        for variant in structure["variants"]:
            found[tuple(sorted(variant["when"].items()))] = None
    yield from map(dict, found)


def _moments(prices: Iterable[Structure]) -> Iterator[datetime]:
    """Yield times with the rates of each window and variant, and of none."""
    yield MONDAY
    ranges = []
    for structure in prices:
        for variant in structure["variants"]:
            if variant["since"] is not None:
                yield datetime.fromisoformat(variant["since"])
        for part in (*structure["windows"], *structure["variants"]):
            ranges += part["hours"]
    named = {day for hours in ranges for day in hours["weekdays"]}
    for hours in ranges:
        yield from _edges(hours, sorted(named) or [MONDAY.isoweekday()])


def _edges(hours: Hours, days: Sequence[int]) -> Iterator[datetime]:
    """Yield the start and end of a range, on its days or else on some."""
    for day in hours["weekdays"] or days:
        for clock in (hours["start"], hours["end"]):
            hour, minute, *second = map(int, clock.split(":"))
            yield MONDAY + timedelta(
                days=day - 1, hours=hour, minutes=minute, seconds=sum(second)
            )
