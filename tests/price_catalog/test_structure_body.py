"""The structure of a price in a request: what is accepted, and what is refused."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.price_catalog.prices import price, sent_back

DAY = {"weekdays": [1, 7]}


def structure(price: str = "1", **hours: Any) -> dict[str, Any]:
    rates = {"input_tokens": {"price": price, "tiers": []}}
    windows = [{"hours": [{**DAY, **hours}], "rates": rates}] if hours else []
    return {"rates": rates, "windows": windows, "variants": []}


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("16:30", "00:30"),
        ("16:30:00", "00:30:00"),
        ("00:00", "24:00"),
        ("23:59:59", "24:00:00"),
    ],
)
def test_hours_may_have_seconds_and_end_with_the_day(start: str, end: str) -> None:
    sent = price(structure=structure(start=start, end=end))
    assert sent_back(sent) == sent


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("16:30", "16:30"),
        ("16:00", "16:00:00"),
        ("00:00:00", "00:00"),
        ("24:00", "08:00"),
        ("16:30", "24:01"),
        ("16:30", "25:00"),
        ("16:30", "17:60"),
        ("16:30:60", "17:00"),
        ("16:30", "1\u0667:00"),
        ("16:30", "17"),
    ],
)
def test_hours_that_are_never_or_no_time_are_refused(start: str, end: str) -> None:
    with pytest.raises(ValidationError):
        sent_back(price(structure=structure(start=start, end=end)))


def test_a_rate_has_as_many_digits_as_a_price_list_gives_it() -> None:
    smallest = f"0.{'0' * 13}{'1234567890' * 2}12345678"
    sent = price(None, structure=structure(smallest))
    assert sent_back(sent) == sent
    with pytest.raises(ValidationError):
        sent_back(price(None, structure=structure(smallest + "1")))


def test_a_variant_may_state_no_rates_of_its_own() -> None:
    made = structure()
    when = {"service_tier": "default"}
    made["variants"] = [{"when": when, "since": None, "hours": [], "rates": {}}]
    assert sent_back(price(structure=made)) == price(structure=made)
