"""What usual model calls would cost by two prices, to find what changes too much."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import islice, product
from typing import Any, Final

from service.price_catalog.charge import Unpriced, amount_of
from service.price_catalog.periods import PriceValues
from service.price_catalog.structure import Hours, Rate, Structure, rates_at
from service.price_catalog.usage import MILLION, UNITS, ModelCallUsage

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
# Of a unit alone, by the number that its prices are for: of tokens and characters, of
# seconds, and of images and the like.
COUNTS: Final = {MILLION: 10_000, 3600: 600, 1000: 10}
FLAT: Final = {
    "input_tokens": "input_price_per_1m",
    "output_tokens": "output_price_per_1m",
    "cache_read_tokens": "cache_read_price_per_1m",
    "cache_write_tokens": "cache_creation_price_per_1m",
}


def costs(
    before: PriceValues, after: PriceValues
) -> Iterator[tuple[ModelCallUsage, str, Decimal | Unpriced, Decimal | Unpriced]]:
    """Yield usual model calls, their condition, and their cost by each of two prices.

    Plain, cached and long ones, in batches and tiers, at each of the prices' hours.
    """
    prices = [each for each in (after["structure"], before["structure"]) if each]
    usages = [*USUAL, *PARTS, *_long(prices)]
    moments = list(dict.fromkeys(_moments(prices)))[:MOMENTS_MAX]
    for when, at in product(islice(_conditions(prices), CONDITIONS_MAX), moments):
        old, new = _rates(before, at, when), _rates(after, at, when)
        if old != new:
            clock = [f"{at:%A %H:%M} UTC"] if len(moments) > 1 else []
            condition = ", ".join([*_words(when), *clock])
            for usage in usages:
                yield usage, condition, amount_of(old, usage), amount_of(new, usage)


def usual_costs(
    price: PriceValues,
) -> Iterator[tuple[ModelCallUsage, str, Decimal]]:
    """Yield usual model calls, their condition, and their cost, as far as it is known.

    Plain and cached ones, and such of one unit alone, by the rates of each tier.
    """
    for condition, rates in _all_rates(price):
        usages = [*USUAL, *(_alone(unit) for unit in rates)]
        lengths = {tier["above"] for rate in rates.values() for tier in rate["tiers"]}
        for above in (0, *sorted(lengths)[:LENGTHS_MAX]):
            words = [condition, f"above {above:,} input tokens" if above else ""]
            flat = {unit: _at_length(rate, above) for unit, rate in rates.items()}
            for usage in usages:
                amount = amount_of(flat, usage)
                if isinstance(amount, Decimal):
                    yield usage, ", ".join(filter(None, words)), amount


def described(usage: ModelCallUsage) -> str:
    """Name the counts of a model call; one without any is a request alone."""
    counts = [(usage.count(unit), unit) for unit in UNITS if unit != "requests"]
    return ", ".join(f"{n:,} {unit}" for n, unit in counts if n) or "1 request"


def condition_of(when: Mapping[str, str], hours: Iterable[Hours]) -> str:
    ranges = [f"{each['start']}-{each['end']} UTC" for each in hours]
    return ", ".join([*_words(when), *ranges])


def _words(when: Mapping[str, str]) -> list[str]:
    return [f"{name} {value}" for name, value in when.items()]


def _all_rates(price: PriceValues) -> Iterator[tuple[str, Mapping[str, Rate]]]:
    structure = price["structure"]
    if structure is None:
        yield "", _rates(price, MONDAY, {})
        return
    yield "", structure["rates"]
    for window in structure["windows"]:
        yield condition_of({}, window["hours"]), window["rates"]
    for variant in structure["variants"]:
        condition = condition_of(variant["when"], variant["hours"])
        yield condition, {**structure["rates"], **variant["rates"]}


def _at_length(rate: Rate, above: int) -> Rate:
    prices = [tier["price"] for tier in rate["tiers"] if tier["above"] <= above]
    return {"price": (prices or [rate["price"]])[-1], "tiers": []}


def _alone(unit: str) -> ModelCallUsage:
    """Return the usage of a unit, which the units that contain it count, too."""
    labels = UNITS[unit].labels
    count = COUNTS[UNITS[unit].per]
    counts: dict[str, int] = dict.fromkeys(("input_tokens", "output_tokens"), 0)
    counts |= {name: count for name in UNITS if UNITS[name].labels <= labels}
    own = {field.name for field in fields(ModelCallUsage)} - {"requests"}
    known: Any = {name: each for name, each in counts.items() if name in own}
    others = {name: each for name, each in counts.items() if name not in own}
    return ModelCallUsage(**known, others=others)


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
