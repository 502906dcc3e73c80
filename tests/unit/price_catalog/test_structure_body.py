"""The structure of a price in a request: what is accepted, and what is refused."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.price_catalog.prices import price, sent_back

DAY = {"weekdays": [1, 7]}


def rates(*prices: str) -> dict[str, Any]:
    units = "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"
    return {
        unit: {"price": price, "tiers": []}
        for unit, price in zip(units, prices, strict=False)
    }


def structure(price: str = "1", **hours: Any) -> dict[str, Any]:
    base = rates(price, "2")
    windows = [{"hours": [{**DAY, **hours}], "rates": base}] if hours else []
    return {"rates": base, "windows": windows, "variants": []}


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
def test_malformed_or_empty_hours_are_refused(start: str, end: str) -> None:
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


@pytest.mark.parametrize(
    ("base", "amounts"),
    [
        (("3", "2"), {"input_price_per_1m": "2"}),
        (("3", "2"), {"output_price_per_1m": "2.0000000001"}),
        (("3", "2"), {"cache_read_price_per_1m": "0"}),
        (("3", "2", "1"), {"cache_read_price_per_1m": "2"}),
        (("3", "2", "1", "4"), {"cache_creation_price_per_1m": "1"}),
        (("0.18000000000000002", "2"), {"input_price_per_1m": "0.1800000001"}),
    ],
)
def test_an_amount_that_is_not_charged_is_refused(
    base: tuple[str, ...], amounts: dict[str, str]
) -> None:
    made = {"rates": rates(*base), "windows": [], "variants": []}
    [name] = amounts
    with pytest.raises(ValidationError, match=f"{name} must be") as refused:
        sent_back(price(None, None, structure=made, **amounts))
    assert [each["loc"] for each in refused.value.errors()] == [("structure",)]


def test_an_amount_is_the_base_rate_or_is_left_out() -> None:
    made = {
        "rates": rates("0.18000000000000002", "2", "1", "4"),
        "windows": [],
        "variants": [],
    }
    sent = price("0.18", None, cache_creation_price_per_1m="4", structure=made)
    assert sent_back(sent) == sent


@pytest.mark.parametrize(("base", "other"), [("1", "3"), ("3", "1")])
def test_with_hours_an_amount_is_the_highest_rate(base: str, other: str) -> None:
    made = structure(base, start="16:30", end="00:30")
    made["windows"][0]["rates"] = rates(other, "2")
    assert sent_back(price("3", structure=made)) == price("3", structure=made)
    with pytest.raises(ValidationError):
        sent_back(price("1", structure=made))
