"""The periods of a model's prices: half-open, ascending, never overlapping."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import TypedDict


class PriceValues(TypedDict):
    """What a model costs; prices are decimals as text, for 1,000,000 tokens.

    None is unknown, "0" is free.
    """

    input_price_per_1m: str | None
    output_price_per_1m: str | None
    cache_creation_price_per_1m: str | None
    cache_read_price_per_1m: str | None
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


def cleared(periods: Sequence[Period], start: str, end: str | None) -> list[Period]:
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


def inserted(periods: Sequence[Period], period: Period) -> list[Period]:
    """Return the periods with a further one, in order; expects its time to be free."""
    return sorted([*periods, period], key=lambda each: each["effective_from"])
