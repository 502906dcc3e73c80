"""Decisions over the periods of one model, and the price at a moment."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from service.errors import InvalidRequestError, NotFoundError
from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.periods import MANUAL, PriceOverlapError, decimal_text
from service.price_catalog.price import price_at
from tests.support.price_catalog.prices import LISTED, day, price, priced, pricing

MICROSECOND = timedelta(microseconds=1)


def amount_at(model: ModelPricing, moment: datetime) -> Decimal | None:
    found = price_at(model, moment)
    return None if found is None else found.input_price_per_1m


def correct(
    model: ModelPricing, amount: str, start: int | None = None, end: int | None = None
) -> bool:
    """Correct a model's first price from a day to another, or all of it."""
    return model.correct_price(
        2,
        price(amount),
        effective_from=None if start is None else day(start),
        effective_until=None if end is None else day(end),
        source=MANUAL,
    )


def test_a_price_holds_from_its_start_to_just_before_its_end() -> None:
    model = pricing()
    model.set_price(
        price("3"), effective_from=day(2), effective_until=day(4), source=MANUAL
    )

    assert amount_at(model, day(2) - MICROSECOND) is None
    assert amount_at(model, day(2)) == 3
    assert amount_at(model, day(4) - MICROSECOND) == 3
    assert amount_at(model, day(4)) is None


def test_a_price_inside_an_open_period_closes_it_in_the_same_event() -> None:
    model = priced(1, 5)

    events: list[Any] = list(model.pending_events)[1:]
    assert [event.closes for event in events] == [None, 2]
    assert amount_at(model, day(5) - MICROSECOND) == 1
    assert amount_at(model, day(5)) == 5


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (day(1), None),  # the same start as a closed period
        (day(5), None),  # the same start as the open period
        (day(4), day(6)),  # the end of one and the start of the next
        (day(2), day(3)),  # inside a closed period
        (datetime(2025, 12, 1, tzinfo=UTC), day(2)),  # over a start
        (datetime(2025, 12, 1, tzinfo=UTC), None),  # over everything
    ],
)
def test_any_other_overlap_is_refused(start: datetime, end: datetime | None) -> None:
    model = priced(1, 5)
    with pytest.raises(PriceOverlapError, match=r"price [23] \[2026-01-0[15]T"):
        model.set_price(
            price("9"), effective_from=start, effective_until=end, source=MANUAL
        )
    assert len(model.pending_events) == 3


def test_setting_what_holds_already_changes_nothing() -> None:
    model = priced(1)
    assert not model.set_price(
        price("1"), effective_from=day(3), effective_until=None, source=MANUAL
    )
    assert model.set_price(
        price("1"), effective_from=day(3), effective_until=None, source=LISTED
    )


def test_an_empty_period_is_refused() -> None:
    with pytest.raises(InvalidRequestError):
        pricing().set_price(
            price(), effective_from=day(2), effective_until=day(2), source=MANUAL
        )


def test_an_ended_price_keeps_its_name() -> None:
    model = priced(1)
    assert model.end_price(2, effective_until=day(3))
    assert not model.end_price(2, effective_until=day(3))
    ended = price_at(model, day(2))
    assert ended is not None
    assert (ended.version, ended.effective_until) == (2, day(3))
    assert amount_at(model, day(3)) is None


@pytest.mark.parametrize("end", [day(4), day(6)])
def test_an_end_outside_the_period_is_refused(end: datetime) -> None:
    model = priced(5)
    model.end_price(2, effective_until=day(5) + timedelta(hours=1))
    with pytest.raises(PriceOverlapError):
        model.end_price(2, effective_until=end)


def test_a_correction_without_bounds_is_of_the_whole_period() -> None:
    model = priced(1, 5)
    correct(model, "7")
    assert amount_at(model, day(5) - MICROSECOND) == 7
    assert amount_at(model, day(5)) == 5
    with pytest.raises(NotFoundError):
        correct(model, "8")


def test_a_correction_of_a_split_price_has_to_say_which_part() -> None:
    model = priced(1)
    correct(model, "7", 3, 5)
    with pytest.raises(PriceOverlapError, match="which"):
        correct(model, "8")


def test_a_correction_to_what_is_there_changes_nothing() -> None:
    model = priced(1)
    assert not correct(model, "1", 2)


def test_unknown_and_free_are_two_things() -> None:
    model = pricing()
    model.set_price(
        price("0", None), effective_from=day(1), effective_until=None, source=MANUAL
    )
    found = price_at(model, day(1))
    assert found is not None
    assert (found.input_price_per_1m, found.output_price_per_1m) == (Decimal(0), None)


def test_every_part_of_a_price_takes_other_notes() -> None:
    model = priced(1)
    correct(model, "7", 3, 5)
    assert model.annotate_price(2, "Deprecated.")
    assert not model.annotate_price(2, "Deprecated.")
    noted = [each["price"]["notes"] for each in model.periods]
    assert noted == ["Deprecated.", None, "Deprecated."]


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("2.50", "2.5"),
        ("0.00", "0"),
        ("-0", "0"),
        ("1E+3", "1000"),
        ("1E-10", "0.0000000001"),
        ("9999999999.9999999999", "9999999999.9999999999"),
        ("100", "100"),
    ],
)
def test_amounts_are_written_exactly(amount: str, text: str) -> None:
    assert decimal_text(Decimal(amount)) == text


def test_prices_may_touch_and_leave_gaps() -> None:
    model = priced(5)
    for start, end in ((1, 2), (4, 5)):
        model.set_price(
            price(str(start)),
            effective_from=day(start),
            effective_until=day(end),
            source=MANUAL,
        )
    found = [amount_at(model, day(number)) for number in range(1, 7)]
    assert found == [1, None, None, 4, 5, 5]


def test_a_price_ended_at_its_start_never_applies() -> None:
    model = priced(1, 20)
    assert model.end_price(3, effective_until=day(20))
    assert amount_at(model, day(20)) is None
    assert len(model.periods) == 1
