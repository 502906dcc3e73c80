"""Notes on a model of genai-prices: everything beside its base price."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal

from genai_prices.types import (
    ModelPrice,
    PriceVariant,
    StartDateConstraint,
    TieredPrices,
    TimeOfDateConstraint,
)

from service.price_catalog.imports.exact_prices import read_price, read_prices
from service.price_catalog.imports.price_notes import priced, written

BASE_FIELDS = {
    "input_mtok": "input",
    "output_mtok": "output",
    "cache_write_mtok": "cache write",
    "cache_read_mtok": "cache read",
}

_TOKENS = "_mtok"  # the only unit of a field that is a price for 1,000,000 tokens
_UNITS = {
    "_kcount": "per 1,000",
    "_hours": "per hour",
    "_kpages": "per 1,000 pages",
    "_mchars": "per 1M characters",
}


@dataclass(frozen=True, slots=True)
class DailyWindow:
    """The price between two times of every day, from start to before end."""

    start: time
    end: time
    prices: ModelPrice

    def __str__(self) -> str:
        return f"{_utc(self.start)}-{_utc(self.end)}"


def base_price(prices: ModelPrice, field: str) -> Decimal | None:
    """Return a price for 1,000,000 tokens, of the lowest tier if it has tiers.

    :raises RefusedRowError: the price is invalid
    """
    return read_price(source_price(prices, field), field=field, per_tokens=1_000_000)


def source_price(prices: ModelPrice, field: str) -> object:
    value = vars(prices).get(field)
    return value.base if isinstance(value, TieredPrices) else value


def describe_other_prices(prices: ModelPrice) -> Iterator[str | None]:
    """Describe the tiers, other tokens and other units of a standard price."""
    others = _amounts(prices, leave_out=BASE_FIELDS)
    yield priced("Other tokens", others)
    yield from _describe_tiers("Above", prices)
    yield _describe_other_units("Also charged", prices)


def describe_windows(
    prices: ModelPrice, windows: Sequence[DailyWindow], *, peak: ModelPrice
) -> Iterator[str | None]:
    """Describe when the peak price applies, and the prices at other hours."""
    if not windows:
        return
    peak_hours = [
        str(window) for window in windows if vars(window.prices) == vars(peak)
    ]
    if peak_hours:
        yield f"The numbers are the peak price, daily {', '.join(peak_hours)} UTC."
    else:
        yield "The numbers are the peak price, at all but the hours named here."
    for window in windows:
        if vars(window.prices) != vars(peak):
            yield priced(f"Daily {window} UTC", _amounts(window.prices))
    if peak is not prices:
        yield priced("At other hours", _amounts(prices))


def describe_variants(
    variants: Sequence[PriceVariant], start: datetime | None, end: datetime | None
) -> Iterator[str | None]:
    """Describe the prices of special requests, such as batches, within a period.

    Of variants for the same requests the first active one in the source counts, so
    variants after one that is active throughout are omitted.
    """
    settled: list[Mapping[str, str]] = []
    for variant in variants:
        since = _since(variant)
        is_later = since is not None and end is not None and since >= end
        if variant.when in settled or is_later:
            continue
        requests = " and ".join(f"{key} {value}" for key, value in variant.when.items())
        label = f"With {requests}"
        if isinstance(variant.constraint, TimeOfDateConstraint):
            hours = variant.constraint
            window = DailyWindow(hours.start_time, hours.end_time, variant.prices)
            label = f"{label} daily {window} UTC"
        elif since is not None and (start is None or since > start):
            label = f"{label} from {since.date()}"
        else:
            settled.append(variant.when)
        yield priced(label, _amounts(variant.prices))
        yield from _describe_tiers(f"{label} above", variant.prices)
        yield _describe_other_units(f"{label} also charged", variant.prices)


def _since(variant: PriceVariant) -> datetime | None:
    if not isinstance(variant.constraint, StartDateConstraint):
        return None
    return midnight(variant.constraint.start_date)


def midnight(day: date) -> datetime:
    """Return the start of a date in UTC, in which the package compares dates."""
    return datetime.combine(day, time(), tzinfo=UTC)


def _amounts(
    prices: ModelPrice, *, leave_out: Mapping[str, str] | None = None
) -> dict[str, Decimal]:
    values = {
        field: source_price(prices, field)
        for field in vars(prices)
        if field.endswith(_TOKENS) and field not in (leave_out or {})
    }
    amounts = read_prices(values, per_tokens=1_000_000)
    return {_name(field, _TOKENS): price for field, price in amounts.items()}


def _describe_tiers(label: str, prices: ModelPrice) -> Iterator[str | None]:
    tiers: dict[int, dict[str, Decimal]] = {}
    for field, value in vars(prices).items():
        for tier in value.tiers if isinstance(value, TieredPrices) else ():
            price = read_price(tier.price, field=field, per_tokens=1_000_000)
            if price is not None:
                tiers.setdefault(tier.start, {})[_name(field, _TOKENS)] = price
    for start, amounts in sorted(tiers.items()):
        yield priced(f"{label} {start:,} input tokens", amounts)


def _describe_other_units(label: str, prices: ModelPrice) -> str | None:
    charges: list[str] = []
    for field in vars(prices):
        price = None if field.endswith(_TOKENS) else base_price(prices, field)
        if price is not None:
            unit = next((suffix for suffix in _UNITS if field.endswith(suffix)), "")
            charge = f"{_name(field, unit)} {written(price)} {_UNITS.get(unit, '')}"
            charges.append(charge.strip())
    return f"{label}: {', '.join(charges)}." if charges else None


def _name(field: str, unit: str) -> str:
    plain = BASE_FIELDS.get(field, field.removesuffix(unit))
    return plain.replace("_", " ")


def _utc(hour: time) -> str:
    if hour.tzinfo is None:
        return f"{hour:%H:%M}"
    return f"{datetime.combine(date(2000, 1, 1), hour).astimezone(UTC):%H:%M}"
