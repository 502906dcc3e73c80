"""Which changes of a structure look like an error of the price list."""

from typing import Any

import pytest

from service.price_catalog.imports.suspicious import is_suspicious
from tests.price_catalog.prices import price

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


def test_variants_that_differ_in_their_start_are_compared_apart() -> None:
    before, after = structure(), structure()
    since = "2026-03-01T00:00:00.000000+00:00"
    later = structure(batch="100")["variants"][0]
    after["variants"].append({**later, "since": since})
    assert not is_suspicious(price(structure=before), price(structure=after))
