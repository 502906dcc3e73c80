"""Which changes of a structure look like an error of the price list."""

from typing import Any

import pytest

from service.price_catalog.imports.suspicious import is_suspicious
from tests.support.price_catalog.prices import price

NIGHT = {"start": "16:30", "end": "00:30", "weekdays": []}


def rates(amount: str, tier: str = "3") -> dict[str, Any]:
    tiers = [{"above": 1000, "price": tier}]
    return {"input_tokens": {"price": amount, "tiers": tiers}}


def structure(*, batch: str = "1", night: str = "1") -> dict[str, Any]:
    variant: dict[str, Any] = {
        "when": {"processing": "batch"},
        "since": None,
        "hours": [],
    }
    return {
        "rates": rates("2"),
        "windows": [{"hours": [NIGHT], "rates": rates(night)}],
        "variants": [{**variant, "rates": rates(batch)}],
    }


@pytest.mark.parametrize("place", ["batch", "night"])
@pytest.mark.parametrize(
    ("amount", "expected"),
    [("5", False), ("5.1", True), ("0.2", False), ("0.1", True), ("0", True)],
)
def test_a_leap_of_a_variant_or_a_window_is_suspicious(
    place: str, amount: str, *, expected: bool
) -> None:
    before = price(structure=structure())
    after = price(structure=structure(**{place: amount}))
    assert is_suspicious(before, after) == expected


def test_a_leap_of_a_tier_of_a_variant_is_suspicious() -> None:
    before, after = structure(), structure()
    after["variants"][0]["rates"] = rates("1", tier="16")
    assert is_suspicious(price(structure=before), price(structure=after))


MARCH, APRIL = (f"2026-0{month}-01T00:00:00.000000+00:00" for month in (3, 4))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"since": APRIL}, True),
        ({"hours": [NIGHT]}, True),
        ({"since": APRIL, "when": {"service_tier": "flex"}}, False),
    ],
    ids=["new date", "new hours", "another condition"],
)
def test_a_new_variant_is_compared_with_one_of_the_same_condition(
    changes: dict[str, Any], *, expected: bool
) -> None:
    before, after = structure(), structure()
    after["variants"].append({**structure(batch="100")["variants"][0], **changes})
    assert is_suspicious(price(structure=before), price(structure=after)) == expected


@pytest.mark.parametrize(("amount", "expected"), [("20", False), ("1", True)])
def test_a_variant_with_a_new_date_is_compared_with_the_newest_before(
    amount: str, *, expected: bool
) -> None:
    def dated(since: str, batch: str) -> dict[str, Any]:
        return {**structure(batch=batch)["variants"][0], "since": since}

    before, after = structure(), structure()
    before["variants"].insert(0, dated(MARCH, "10"))
    after["variants"][:0] = [dated(APRIL, amount), dated(MARCH, "10")]
    assert is_suspicious(price(structure=before), price(structure=after)) == expected
