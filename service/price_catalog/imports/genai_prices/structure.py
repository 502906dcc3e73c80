"""The structure of a genai-prices price; importing this module requires the package."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal

from genai_prices.data_units import unit_data
from genai_prices.types import (
    ModelPrice,
    PriceVariant,
    StartDateConstraint,
    TieredPrices,
    TimeOfDateConstraint,
)

from service.price_catalog.imports.exact_prices import read_price
from service.price_catalog.imports.genai_prices.notes import (
    BASE_FIELDS,
    DailyWindow,
    midnight,
)
from service.price_catalog.periods import decimal_text, time_text
from service.price_catalog.structure import Hours, Rate, Structure, Tier, Variant
from service.price_catalog.usage import UNITS

# The package's name of each unit that can be charged here, by the field of its price.
_UNIT_OF_FIELD = {
    unit["price_key"]: name for name, unit in unit_data.items() if name in UNITS
}


def read_structure(
    prices: ModelPrice,
    windows: Sequence[DailyWindow],
    variants: Iterable[PriceVariant],
    *,
    end: datetime | None,
) -> Structure | None:
    """Return all rates of a price, or None if its four amounts are all.

    :raises RefusedRowError: one of them is invalid
    """
    structure: Structure = {
        "rates": _rates(prices),
        "windows": [
            {"hours": [_hours(window)], "rates": _rates(window.prices)}
            for window in windows
        ],
        "variants": list(_variants(variants, end)),
    }
    is_flat = all(
        not rate["tiers"] and _is_expressed(prices, unit)
        for unit, rate in structure["rates"].items()
    )
    is_plain = not structure["windows"] and not structure["variants"]
    return None if is_flat and is_plain else structure


def priced_units(prices: ModelPrice) -> list[str]:
    """Return the units that a price charges."""
    return list(_rates(prices))


def _is_expressed(prices: ModelPrice, unit: str) -> bool:
    fields = [field for field in BASE_FIELDS if _UNIT_OF_FIELD[field] == unit]
    return any(
        read_price(vars(prices)[field], field=field, per_tokens=1_000_000)
        == vars(prices)[field]
        for field in fields
    )


def _rates(prices: ModelPrice) -> dict[str, Rate]:
    return {
        _UNIT_OF_FIELD[field]: _rate(field, value)
        for field, value in vars(prices).items()
        if value is not None and field in _UNIT_OF_FIELD
    }


def _rate(field: str, value: Decimal | TieredPrices) -> Rate:
    if not isinstance(value, TieredPrices):
        return {"price": _exact(field, value), "tiers": []}
    tiers: list[Tier] = [
        {"above": tier.start, "price": _exact(field, tier.price)}
        for tier in value.tiers
    ]
    return {"price": _exact(field, value.base), "tiers": tiers}


def _exact(field: str, value: Decimal) -> str:
    # Rejects what isn't a price; the digits are the source's.
    read_price(value, field=field, per_tokens=1_000_000)
    return decimal_text(value) or "0"


def _variants(
    variants: Iterable[PriceVariant], end: datetime | None
) -> Iterator[Variant]:
    """Yield the variants that apply before the end of the price."""
    for variant in variants:
        since: datetime | None = None
        hours: list[Hours] = []
        if isinstance(variant.constraint, StartDateConstraint):
            since = midnight(variant.constraint.start_date)
        elif isinstance(variant.constraint, TimeOfDateConstraint):
            limits = variant.constraint
            window = DailyWindow(limits.start_time, limits.end_time, variant.prices)
            hours = [_hours(window)]
        if since is not None and end is not None and since >= end:
            continue
        yield {
            "when": dict(variant.when),
            "since": None if since is None else time_text(since),
            "hours": hours,
            "rates": _rates(variant.prices),
        }


def _hours(window: DailyWindow) -> Hours:
    return {"start": _utc(window.start), "end": _utc(window.end), "weekdays": []}


def _utc(hour: time) -> str:
    if hour.tzinfo is not None:
        hour = datetime.combine(date(1970, 1, 1), hour).astimezone(UTC).time()
    return hour.strftime("%H:%M:%S")
