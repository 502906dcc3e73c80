"""The periods of a model's prices: half-open, ascending, never overlapping."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal

from typing_extensions import TypedDict

from service.events import DecimalText


class PriceValues(TypedDict):
    """Prices for 1,000,000 tokens; null is unknown, 0 is free."""

    input_price_per_1m: DecimalText | None
    output_price_per_1m: DecimalText | None
    cache_creation_price_per_1m: DecimalText | None
    cache_read_price_per_1m: DecimalText | None
    currency: str
    notes: str | None


class Provenance(TypedDict):
    """Where a price comes from: a published list, or ``manual``."""

    name: str
    version: str | None
    sha256: str | None


class Period(TypedDict):
    """A price in the time [effective_from, effective_until).

    Times are texts of one width in UTC, so that they compare as times do.
    ``price_version`` is the version of the aggregate's event that stated the price.
    """

    price_version: int
    effective_from: str
    effective_until: str | None
    price: PriceValues
    source: Provenance


MANUAL: Provenance = {"name": "manual", "version": None, "sha256": None}


def instant(moment: datetime) -> str:
    """Write a moment so that texts compare as the moments do."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def exact(amount: Decimal | None) -> str | None:
    """Write an amount with all its digits, and equal amounts equally."""
    if amount is None:
        return None
    # A zero may carry a sign.
    text = format(amount or amount.copy_abs(), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def is_before(moment: str, end: str | None) -> bool:
    """Compare with an end that None leaves open."""
    return end is None or moment < end


def covers(period: Period, moment: str) -> bool:
    return period["effective_from"] <= moment and is_before(
        moment, period["effective_until"]
    )


def period_at(periods: Sequence[Period], moment: str) -> Period | None:
    """Return the period that holds at a moment, or None."""
    place = bisect_right(periods, moment, key=lambda each: each["effective_from"])
    if place == 0:
        return None
    period = periods[place - 1]
    return period if is_before(moment, period["effective_until"]) else None


def overlapping(
    periods: Sequence[Period], start: str, end: str | None
) -> Iterator[Period]:
    for period in periods:
        if is_before(period["effective_from"], end) and is_before(
            start, period["effective_until"]
        ):
            yield period


def stated(
    price_version: int,
    effective_from: str,
    effective_until: str | None,
    price: PriceValues,
    source: Provenance,
) -> Period:
    return {
        "price_version": price_version,
        "effective_from": effective_from,
        "effective_until": effective_until,
        "price": price,
        "source": source,
    }


def says(
    period: Period, end: str | None, price: PriceValues, source: Provenance
) -> bool:
    """Tell whether a period states a price, from a source, up to an end."""
    stated = (period["effective_until"], period["price"], period["source"])
    return stated == (end, price, source)


def named(period: Period) -> str:
    """Name a period in an error's words."""
    until = period["effective_until"] or "open"
    return f"price {period['price_version']} [{period['effective_from']}, {until})"


def with_price_set(
    periods: Sequence[Period], period: Period, closes: int | None
) -> list[Period]:
    """Return the periods with a new one; expects its time to be free, or closed."""
    if closes is not None:
        # The open period that is closed was the last one.
        periods = _cleared(periods, period["effective_from"], None)
    return _inserted(periods, period)


def with_price_ended(
    periods: Sequence[Period], effective_from: str, effective_until: str
) -> list[Period]:
    """Return the periods with the one that starts at a moment ending earlier."""
    ended = period_at(periods, effective_from)
    assert ended is not None
    return _cleared(periods, effective_until, ended["effective_until"])


def with_price_corrected(periods: Sequence[Period], period: Period) -> list[Period]:
    """Return the periods with one in the place of what holds in its time."""
    cleared = _cleared(periods, period["effective_from"], period["effective_until"])
    return _inserted(cleared, period)


def with_price_annotated(
    periods: Sequence[Period], price_version: int, notes: str | None
) -> list[Period]:
    return [
        {**each, "price": {**each["price"], "notes": notes}}
        if each["price_version"] == price_version
        else each
        for each in periods
    ]


def _cleared(periods: Sequence[Period], start: str, end: str | None) -> list[Period]:
    """Return the periods without the time [start, end); one around it is split."""
    kept: list[Period] = []
    for period in periods:
        if period["effective_from"] < start:
            until = period["effective_until"]
            if is_before(start, until):
                until = start
            kept.append({**period, "effective_until": until})
        if end is not None and is_before(end, period["effective_until"]):
            since = max(end, period["effective_from"])
            kept.append({**period, "effective_from": since})
    return kept


def _inserted(periods: Sequence[Period], period: Period) -> list[Period]:
    return sorted([*periods, period], key=lambda each: each["effective_from"])
