"""Which changes of a structure look like an error of the price list."""

from typing import Any

import pytest

from service.price_catalog.imports.suspicious import doubt_of_change, doubt_of_first
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
    assert bool(doubt_of_change(before, after)) == expected


def test_a_leap_of_a_tier_of_a_variant_is_suspicious() -> None:
    before, after = structure(), structure()
    after["variants"][0]["rates"] = rates("1", tier="16")
    assert doubt_of_change(price(structure=before), price(structure=after))


FLAT = price("1", "4", cache_read_price_per_1m="0.1")
INPUT: Any = {"price": "1", "tiers": []}
OUTPUT: Any = {"price": "4", "tiers": []}
READS: Any = {"price": "0.1", "tiers": []}
BASE: Any = {
    "input_tokens": INPUT,
    "output_tokens": OUTPUT,
    "cache_read_tokens": READS,
}
DEAR: Any = {**BASE, "input_tokens": {"price": "100", "tiers": []}}
ALL_DAY: Any = {"start": "00:00", "end": "24:00", "weekdays": []}
MONDAYS: Any = {**ALL_DAY, "weekdays": [1]}
MANY_HOURS: Any = [
    {"start": f"{hour:02}:00", "end": f"{hour:02}:30", "weekdays": [6, 7]}
    for hour in range(20)
]
SUNDAYS: Any = {"start": "08:00", "end": "09:00", "weekdays": [7]}


def tiered(amount: str, long: str) -> Any:
    return {"price": amount, "tiers": [{"above": 200_000, "price": long}]}


def with_rates(rates: Any, **others: Any) -> Any:
    made = {"rates": rates, "windows": [], "variants": [], **others}
    return price("1", "4", cache_read_price_per_1m="0.1", structure=made)


def dear_for(when: dict[str, str]) -> dict[str, Any]:
    return {"when": when, "since": None, "hours": [], "rates": DEAR}


@pytest.mark.parametrize(
    "after",
    [
        price("1", "4"),
        price("1", None, cache_read_price_per_1m="0.1"),
        price("1", "4", cache_read_price_per_1m="800"),
        price("1", "4", currency="CNY", cache_read_price_per_1m="0.1"),
        with_rates(
            {
                **BASE,
                "input_tokens": {
                    "price": "1",
                    "tiers": [{"above": 1000, "price": "100"}],
                },
            }
        ),
        with_rates({**BASE, "requests": {"price": "1000", "tiers": []}}),
        with_rates({**BASE, "cache_read_tokens": {"price": "0", "tiers": []}}),
        with_rates(BASE, windows=[{"hours": [ALL_DAY], "rates": DEAR}]),
        with_rates(BASE, windows=[{"hours": [SUNDAYS], "rates": DEAR}]),
        with_rates(BASE, variants=[dear_for({"processing": "batch"})]),
        with_rates(BASE, variants=[dear_for({"service_tier": "flex"})]),
        with_rates({**BASE, "output_tokens": tiered("4", "200")}),
        with_rates({**BASE, "cache_read_tokens": tiered("0.1", "100")}),
        with_rates({**BASE, "output_reasoning_tokens": {"price": "400", "tiers": []}}),
        with_rates(BASE, windows=[{"hours": MANY_HOURS, "rates": DEAR}]),
        with_rates(
            BASE,
            windows=[
                {"hours": [MONDAYS], "rates": BASE},
                {"hours": [ALL_DAY], "rates": DEAR},
            ],
        ),
        price("1", "4", cache_read_price_per_1m="0.1", currency="EUR"),
    ],
    ids=[
        *("cache price dropped", "output price dropped", "cache price x 8,000"),
        *("currency", "a tier", "a fee", "free reads", "off-peak all day"),
        *("off-peak on Sundays", "batches", "a service tier"),
        *("a tier of the output", "a tier of reads", "reasoning", "many hours"),
        *("all days but one", "another currency"),
    ],
)
def test_what_makes_usual_calls_much_dearer_or_cheaper_is_suspicious(
    after: Any,
) -> None:
    assert doubt_of_change(FLAT, after)


@pytest.mark.parametrize(
    "after",
    [
        FLAT,
        price("4", "16", cache_read_price_per_1m="0.4"),
        price("1", "4", cache_read_price_per_1m="0.1", cache_creation_price_per_1m="2"),
        with_rates(BASE),
        with_rates({**BASE, "input_audio_tokens": {"price": "40", "tiers": []}}),
        with_rates(
            BASE,
            variants=[
                {
                    **dear_for({"processing": "batch"}),
                    "rates": {"input_tokens": {"price": "0.5", "tiers": []}},
                }
            ],
        ),
    ],
)
def test_other_changes_are_not_suspicious(after: Any) -> None:
    assert not doubt_of_change(FLAT, after)


PER_TOKEN: Any = {"price": "1000000", "tiers": []}
ABSURD: Any = {**BASE, "output_tokens": PER_TOKEN}
DEAR_BATCH: Any = dear_for({"processing": "batch"})


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        (price("150", "600"), False),
        (price("3000000", "1"), True),
        (price("130000", None), True),
        (price(None, "5000000"), True),
        (with_rates({**BASE, "requests": {"price": "50000", "tiers": []}}), True),
        (with_rates({**BASE, "input_audio_tokens": PER_TOKEN}), True),
        (with_rates({**BASE, "input_images": {"price": "20000", "tiers": []}}), True),
        (with_rates({**BASE, "output_tokens": tiered("4", "1000000")}), True),
        (with_rates({**BASE, "output_tokens": tiered("4", "600")}), False),
        (with_rates(BASE, windows=[{"hours": [NIGHT], "rates": ABSURD}]), True),
        (with_rates(BASE, variants=[{**DEAR_BATCH, "rates": ABSURD}]), True),
        (with_rates(BASE, variants=[DEAR_BATCH]), False),
    ],
    ids=[
        *("the dearest there is", "for a token", "input alone", "output alone"),
        *("50 a request", "audio", "20 an image", "a tier", "a dear tier", "off-peak"),
        *("batches", "dear batches"),
    ],
)
def test_a_first_price_can_be_absurd(first: Any, *, expected: bool) -> None:
    assert bool(doubt_of_first(first)) == expected


@pytest.mark.parametrize("unit", ["input_audio_tokens", "output_images"])
def test_an_absurd_price_of_a_new_unit_is_suspicious(unit: str) -> None:
    after = with_rates({**BASE, unit: PER_TOKEN})
    assert doubt_of_change(FLAT, after)
    assert not doubt_of_change(after, after)


@pytest.mark.parametrize("unit", ["input_audio_tokens", "output_images", "requests"])
def test_a_price_of_a_unit_that_is_no_longer_stated_is_suspicious(unit: str) -> None:
    before = with_rates({**BASE, unit: {"price": "1", "tiers": []}})
    assert doubt_of_change(before, FLAT)


@pytest.mark.parametrize(
    "before",
    [
        with_rates({**BASE, "output_tokens": tiered("4", "5")}),
        with_rates(BASE, windows=[{"hours": [NIGHT], "rates": BASE}]),
        with_rates(BASE, variants=[{**dear_for({"speed": "fast"}), "rates": BASE}]),
    ],
    ids=["a tier", "off-peak hours", "a variant"],
)
def test_a_condition_that_is_no_longer_stated_is_suspicious(before: Any) -> None:
    assert doubt_of_change(before, with_rates(BASE))
    assert doubt_of_change(before, FLAT)


def test_the_same_price_without_its_structure_is_not_suspicious() -> None:
    assert not doubt_of_change(with_rates(BASE), FLAT)


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
    found = doubt_of_change(price(structure=before), price(structure=after))
    assert (found is not None) == expected


@pytest.mark.parametrize(("amount", "expected"), [("20", False), ("1", True)])
def test_a_variant_with_a_new_date_is_compared_with_the_newest_before(
    amount: str, *, expected: bool
) -> None:
    def dated(since: str, batch: str) -> dict[str, Any]:
        return {**structure(batch=batch)["variants"][0], "since": since}

    before, after = structure(), structure()
    before["variants"].insert(0, dated(MARCH, "10"))
    after["variants"][:0] = [dated(APRIL, amount), dated(MARCH, "10")]
    found = doubt_of_change(price(structure=before), price(structure=after))
    assert (found is not None) == expected


NIGHTS: Any = {"hours": [NIGHT]}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            with_rates({**BASE, "output_tokens": tiered("4", "5")}),
            with_rates({**BASE, "output_tokens": tiered("4", "50")}),
            (
                "price of 1,000,000 output_tokens above 200,000 input tokens: "
                "5 before, 50 after"
            ),
        ),
        (
            with_rates(BASE, windows=[{**NIGHTS, "rates": BASE}]),
            FLAT,
            "price of 1,000,000 input_tokens (16:30-00:30 UTC): 1 before, none after",
        ),
        (
            FLAT,
            with_rates(BASE, variants=[{**DEAR_BATCH, "rates": ABSURD}]),
            (
                "cost of 1,000 input_tokens, 300 output_tokens (processing batch): "
                "0.0022 before, 300.001 after"
            ),
        ),
        (
            FLAT,
            with_rates(BASE, windows=[{**NIGHTS, "rates": DEAR}]),
            (
                "cost of 1,000 input_tokens, 300 output_tokens (Monday 00:00 UTC): "
                "0.0022 before, 0.1012 after"
            ),
        ),
        (FLAT, {**FLAT, "currency": "EUR"}, "currency: EUR instead of USD"),
    ],
    ids=["a tier", "dropped hours", "absurd batches", "hours", "currency"],
)
def test_a_doubt_names_its_unit_its_condition_and_both_amounts(
    before: Any, after: Any, said: str
) -> None:
    assert str(doubt_of_change(before, after)) == said
