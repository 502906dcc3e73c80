"""The periods of a model's prices: half-open, ascending, never overlapping."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TypeVar, cast

from typing_extensions import TypedDict

from service.errors import ConflictError, NotFoundError
from service.events import DecimalText
from service.price_catalog.structure import Structure

PRICE_DECIMAL_PLACES = 10
PRICE_LIMIT = Decimal(10) ** 10  # with the decimal places above: numeric(20, 10)
NAME_LENGTH_MAX = 256
NOTES_LENGTH_MAX = 2000


class PriceValues(TypedDict):
    """Prices for 1,000,000 tokens; null is unknown, 0 is free.

    ``structure`` holds all rates of a price that has more than these four.
    """

    input_price_per_1m: DecimalText | None
    output_price_per_1m: DecimalText | None
    cache_creation_price_per_1m: DecimalText | None
    cache_read_price_per_1m: DecimalText | None
    currency: str
    notes: str | None
    structure: Structure | None


class Provenance(TypedDict):
    """Where a price comes from: a published list, or ``manual``."""

    name: str
    version: str | None
    sha256: str | None


class Span(TypedDict):
    """The time [effective_from, effective_until) of a price.

    Times are texts of one width in UTC, so that they sort chronologically.
    ``price_version`` is the version of the aggregate's event that set the price.
    """

    price_version: int
    effective_from: str
    effective_until: str | None


class Period(Span):
    """A list price for a time."""

    price: PriceValues
    source: Provenance


S = TypeVar("S", bound=Span)


class PriceOverlapError(ConflictError):
    """A period overlaps another one, or lies outside the one it must lie within."""

    code = "price_overlap"


MANUAL: Provenance = {"name": "manual", "version": None, "sha256": None}


def price_values(price: Any) -> PriceValues:
    """Return an object's amounts, currency and notes as events hold them."""
    return {
        "input_price_per_1m": decimal_text(price.input_price_per_1m),
        "output_price_per_1m": decimal_text(price.output_price_per_1m),
        "cache_creation_price_per_1m": decimal_text(price.cache_creation_price_per_1m),
        "cache_read_price_per_1m": decimal_text(price.cache_read_price_per_1m),
        "currency": price.currency,
        "notes": price.notes,
        "structure": price.structure,
    }


def decimal_text(amount: Decimal | None) -> str | None:
    """Return an amount with all its digits; equal amounts give equal texts."""
    if amount is None:
        return None
    # A zero may have a sign.
    text = format(amount or amount.copy_abs(), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def decimal_of(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


def time_text(time: datetime) -> str:
    """Return a time as text in UTC, of one width, so that texts sort as times do."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def time_of(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def price_text(price: PriceValues) -> str:
    """Describe a price in a sentence of the audit trail."""
    amounts = {
        "input": price.get("input_price_per_1m"),
        "output": price.get("output_price_per_1m"),
        "cache creation": price.get("cache_creation_price_per_1m"),
        "cache read": price.get("cache_read_price_per_1m"),
    }
    known = [f"{name} {amount}" for name, amount in amounts.items() if amount]
    return f"{', '.join(known) or 'nothing known'} {price['currency']} per 1M tokens"


def period_text(effective_from: str, effective_until: str | None) -> str:
    """Describe a period in a sentence of the audit trail."""
    until = f" until {effective_until}" if effective_until else ""
    return f"from {effective_from}{until}"


def is_before(time: str, end: str | None) -> bool:
    """Compare with an end; None is an open end, after every time."""
    return end is None or time < end


def covers(period: Span, time: str) -> bool:
    return period["effective_from"] <= time and is_before(
        time, period["effective_until"]
    )


def period_at(periods: Sequence[S], time: str) -> S | None:
    """Return the period that contains a time, or None."""
    after = bisect_right(periods, time, key=lambda period: period["effective_from"])
    if after == 0:
        return None
    period = periods[after - 1]
    return period if is_before(time, period["effective_until"]) else None


def parts_of(periods: Sequence[S], price_version: int) -> list[S]:
    """Return the periods of one price; corrections may have split its period."""
    return [period for period in periods if period["price_version"] == price_version]


def existing_parts(periods: Sequence[S], price_version: int) -> list[S]:
    """Return the periods of one price.

    :raises NotFoundError: there is none
    """
    parts = parts_of(periods, price_version)
    if not parts:
        raise NotFoundError("there is no such price")
    return parts


def part_at(periods: Sequence[S], price_version: int, *, start: str | None) -> S:
    """Return the period of a price that contains ``start``, or its only one.

    :raises NotFoundError: the price has no period
    :raises PriceOverlapError: none contains ``start``, or without it there are several
    """
    parts = existing_parts(periods, price_version)
    labels = "; ".join(map(label, parts))
    if start is None and len(parts) > 1:
        raise PriceOverlapError(
            f"this price has several periods; effective_from must say which: {labels}"
        )
    for part in parts:
        if start is None or covers(part, start):
            return part
    raise PriceOverlapError(f"effective_from must lie within {labels}")


def overlapping(periods: Sequence[S], start: str, end: str | None) -> Iterator[S]:
    for period in periods:
        if is_before(period["effective_from"], end) and is_before(
            start, period["effective_until"]
        ):
            yield period


def label(period: Span) -> str:
    """Identify a period in an error message."""
    until = period["effective_until"] or "open"
    return f"price {period['price_version']} [{period['effective_from']}, {until})"


def with_price_set(periods: Sequence[S], period: S, closes: int | None) -> list[S]:
    """Return the periods with a new one; the open price ``closes`` ends there."""
    if closes is not None:
        # The open period is always the last one.
        periods = _cleared(periods, period["effective_from"], None)
    return _inserted(periods, period)


def with_price_ended(
    periods: Sequence[S], effective_from: str, effective_until: str
) -> list[S]:
    """Return the periods, with the one that starts at ``effective_from`` shortened."""
    ended = period_at(periods, effective_from)
    assert ended is not None
    return _cleared(periods, effective_until, ended["effective_until"])


def with_price_corrected(periods: Sequence[S], period: S) -> list[S]:
    """Return the periods with a new one that replaces whatever it overlaps."""
    cleared = _cleared(periods, period["effective_from"], period["effective_until"])
    return _inserted(cleared, period)


def with_price_annotated(
    periods: Sequence[Period], price_version: int, notes: str | None
) -> list[Period]:
    return [
        {**period, "price": {**period["price"], "notes": notes}}
        if period["price_version"] == price_version
        else period
        for period in periods
    ]


def _cleared(periods: Sequence[S], start: str, end: str | None) -> list[S]:
    """Return the periods without the time [start, end); one around it is split."""
    kept: list[S] = []
    for period in periods:
        if period["effective_from"] < start:
            until = period["effective_until"]
            if is_before(start, until):
                until = start
            kept.append(cast("S", {**period, "effective_until": until}))
        if end is not None and is_before(end, period["effective_until"]):
            since = max(end, period["effective_from"])
            kept.append(cast("S", {**period, "effective_from": since}))
    return kept


def _inserted(periods: Sequence[S], period: S) -> list[S]:
    return sorted([*periods, period], key=lambda item: item["effective_from"])
