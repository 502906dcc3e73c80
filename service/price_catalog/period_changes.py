"""What a change of a price does to the periods of before, or why it is refused."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from service.errors import ConflictError, InvalidRequestError
from service.price_catalog.periods import (
    PriceOverlapError,
    S,
    existing_parts,
    is_before,
    label,
    overlapping,
    part_at,
    time_text,
)

PERIODS_MAX: Final = 1000


def price_to_close(periods: Sequence[S], start: str, end: str | None) -> int | None:
    """Return the open price that ends where a new one starts.

    :raises PriceOverlapError: any other overlap; the message names the period
    """
    closes = None
    for period in overlapping(periods, start, end):
        if period["effective_until"] is None and period["effective_from"] < start:
            closes = period["price_version"]
        else:
            raise PriceOverlapError(f"the period overlaps {label(period)}")
    return closes


def part_to_end(periods: Sequence[S], price_version: int, end: str) -> S | None:
    """Return the last part of a price, which is to end earlier; None if it does.

    :raises NotFoundError: there is no such price, or corrections replaced it
    :raises PriceOverlapError: the end isn't within the price's period
    """
    period = existing_parts(periods, price_version)[-1]
    if end == period["effective_until"]:
        return None
    if end < period["effective_from"] or not is_before(end, period["effective_until"]):
        raise PriceOverlapError(f"the end must lie within {label(period)}")
    return period


def part_to_correct(
    periods: Sequence[S],
    price_version: int,
    effective_from: datetime | None,
    effective_until: datetime | None,
) -> tuple[S, str, str | None]:
    """Return the part of a price to correct, and the bounds of its correction.

    Without bounds the whole period is corrected, else the part within them.

    :raises NotFoundError: there is no such price, or corrections replaced it
    :raises PriceOverlapError: the bounds aren't within one period of the price
    """
    given = time_text(effective_from) if effective_from else None
    period = part_at(periods, price_version, start=given)
    start = given or period["effective_from"]
    end = time_text(effective_until) if effective_until else period["effective_until"]
    refuse_empty(start, end)
    if period["effective_until"] is not None and (
        end is None or end > period["effective_until"]
    ):
        raise PriceOverlapError(f"the time must lie within {label(period)}")
    return period, start, end


def refuse_empty(start: str, end: str | None) -> None:
    if not is_before(start, end):
        raise InvalidRequestError("a price must end after it starts")


def refuse_too_many(periods: int, *, of: str) -> None:
    """Check that there is room for a change.

    :raises ConflictError: there isn't
    """
    # A correction inside a period adds two.
    if periods + 2 > PERIODS_MAX:
        raise ConflictError(
            f"{of} has at most {PERIODS_MAX} periods", code="too_many_periods"
        )
