"""Prices with structure: tiers, hours, variants and units beside text tokens."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from service.price_catalog.bodies import NewPrice
from service.price_catalog.charge import Unpriced, amount_of
from service.price_catalog.structure import Rate, Structure, rates_at
from service.price_catalog.usage import ModelCallUsage

SUNDAY = datetime(2026, 3, 1, 12, tzinfo=UTC)
MILLION = 1_000_000


def rate(price: str, **tiers: str) -> Rate:
    return {
        "price": price,
        "tiers": [
            {"above": int(name[1:]), "price": price} for name, price in tiers.items()
        ],
    }


def structure(**others: Any) -> Structure:
    made: Structure = {
        "rates": {"input_tokens": rate("2"), "output_tokens": rate("8")},
        "windows": [],
        "variants": [],
    }
    return {**made, **others}  # type: ignore[typeddict-item]  # the test's own words


@pytest.mark.parametrize(
    ("length", "cost"), [(200_000, "0.4"), (200_001, "0.800004")], ids=["at", "above"]
)
def test_a_tier_is_the_price_of_all_tokens_of_a_long_prompt(
    length: int, cost: str
) -> None:
    rates = {"input_tokens": rate("2", t200000="4")}

    assert amount_of(rates, ModelCallUsage(input_tokens=length)) == Decimal(cost)


def test_tiers_of_the_output_follow_the_length_of_the_prompt() -> None:
    rates = {"input_tokens": rate("0"), "output_tokens": rate("8", t100="16")}

    long = amount_of(rates, ModelCallUsage(input_tokens=101, output_tokens=MILLION))
    unknown = amount_of(rates, ModelCallUsage(output_tokens=MILLION))

    assert long == 16
    assert unknown is Unpriced.COUNT_MISSING


def test_parts_of_parts_are_charged_once() -> None:
    rates = {
        "input_tokens": rate("1"),
        "cache_write_tokens": rate("10"),
        "cache_write_1h_tokens": rate("100"),
        "input_audio_tokens": rate("1000"),
    }
    usage = ModelCallUsage(
        input_tokens=4 * MILLION,
        cache_write_tokens=2 * MILLION,
        cache_write_1h_tokens=MILLION,
        input_audio_tokens=MILLION,
    )

    assert amount_of(rates, usage) == 1 + 10 + 100 + 1000


def test_input_that_no_part_with_a_rate_counts_is_unknown() -> None:
    rates = {
        "input_audio_tokens": rate("10"),
        "cache_read_tokens": rate("1"),
        "cache_audio_read_tokens": rate("2"),
        "output_tokens": rate("100"),
    }

    def found(input_tokens: int) -> Decimal | Unpriced:
        usage = ModelCallUsage(
            input_tokens=input_tokens,
            output_tokens=MILLION,
            input_audio_tokens=3 * MILLION,
            cache_read_tokens=2 * MILLION,
            others={"cache_audio_read_tokens": MILLION},
        )
        return amount_of(rates, usage)

    assert found(4 * MILLION) == 2 * 10 + 1 + 2 + 100
    assert found(4 * MILLION + 1) is Unpriced.NO_PRICE_THEN


@pytest.mark.parametrize(
    ("read_price", "usage", "expected"),
    [
        ("0.5", ModelCallUsage(output_tokens=MILLION), Unpriced.COUNT_MISSING),
        (
            "0.5",
            ModelCallUsage(output_tokens=0, cache_read_tokens=MILLION),
            Unpriced.COUNT_MISSING,
        ),
        (
            "0.5",
            ModelCallUsage(input_tokens=5, output_tokens=0, cache_read_tokens=MILLION),
            Unpriced.COUNTS_CONTRADICT,
        ),
        ("0.5", ModelCallUsage(input_tokens=0, output_tokens=MILLION), Decimal(8)),
        ("0", ModelCallUsage(output_tokens=MILLION), Decimal(8)),
        (
            "0",
            ModelCallUsage(output_tokens=MILLION, cache_read_tokens=5),
            Unpriced.COUNT_MISSING,
        ),
    ],
    ids=["none", "a part", "too little", "zero", "free", "a free part"],
)
def test_input_that_only_a_part_of_has_a_rate_needs_a_count_that_agrees(
    read_price: str, usage: ModelCallUsage, expected: Decimal | Unpriced
) -> None:
    rates = {"cache_read_tokens": rate(read_price), "output_tokens": rate("8")}

    assert amount_of(rates, usage) == expected


def test_requests_hours_and_images_are_charged() -> None:
    rates = {"requests": rate("5"), "audio_seconds": rate("3600")}

    found = amount_of(
        rates, ModelCallUsage(requests=2, others={"audio_seconds": Decimal("1.5")})
    )
    images = amount_of({"output_images": rate("40")}, ModelCallUsage(output_images=2))

    assert found == Decimal("0.01") + Decimal("1.5")
    assert images == Decimal("0.08")


def test_a_price_by_the_hour_needs_the_seconds() -> None:
    rates = {"audio_seconds": rate("1")}

    assert amount_of(rates, ModelCallUsage(input_tokens=7)) is Unpriced.COUNT_MISSING


@pytest.mark.parametrize(
    ("start", "end", "weekdays", "inside"),
    [
        ("12:00", "13:00", [], True),
        ("11:00", "12:00", [], False),
        ("22:00", "12:01", [], True),
        ("22:00", "12:00", [], False),
        ("12:00", "13:00", [7], True),
        ("12:00", "13:00", [1, 2, 3], False),
    ],
)
def test_a_window_replaces_all_rates(
    start: str, end: str, weekdays: list[int], *, inside: bool
) -> None:
    hours = {"start": start, "end": end, "weekdays": weekdays}
    made = structure(windows=[{"hours": [hours], "rates": {"input_tokens": rate("9")}}])

    rates = rates_at(made, SUNDAY, {})

    assert (rates == {"input_tokens": rate("9")}) is inside


def test_the_first_variant_that_applies_replaces_a_unit() -> None:
    variants: list[dict[str, Any]] = [
        {
            "when": {"service_tier": tier},
            "since": since,
            "hours": [],
            "rates": {"input_tokens": rate(price)},
        }
        for tier, since, price in (
            ("flex", "2026-03-02T00:00:00.000000+00:00", "0.5"),
            ("flex", None, "1"),
            ("flex", None, "3"),
            ("priority", None, "4"),
        )
    ]
    made = structure(variants=variants)

    def price_of(conditions: dict[str, str], at: datetime = SUNDAY) -> str:
        return rates_at(made, at, conditions)["input_tokens"]["price"]

    assert price_of({}) == "2"
    assert price_of({"service_tier": "flex", "processing": "batch"}) == "1"
    assert price_of({"service_tier": "flex"}, SUNDAY.replace(day=2)) == "0.5"
    assert rates_at(made, SUNDAY, {"service_tier": "flex"})["output_tokens"] == rate(
        "8"
    )


def test_a_body_keeps_every_digit_of_a_structure() -> None:
    body = NewPrice.model_validate_json(
        '{"provider": "acme", "model": "swift-1", "structure": {"rates": '
        '{"input_tokens": {"price": 0.1000000001, '
        '"tiers": [{"above": 128000, "price": "0.20"}]}}}}'
    )

    made = body.price["structure"]

    assert made is not None
    assert made["rates"]["input_tokens"] == {
        "price": "0.1000000001",
        "tiers": [{"above": 128_000, "price": "0.2"}],
    }


@pytest.mark.parametrize(
    "rates",
    [
        "{}",
        '{"wishes": {"price": 1}}',
        '{"input_tokens": {"price": -1}}',
        (
            '{"input_tokens": {"price": 1, "tiers": [{"above": 2, "price": 1}, '
            '{"above": 2, "price": 2}]}}'
        ),
    ],
    ids=["none", "unknown unit", "negative", "tiers that don't ascend"],
)
def test_an_invalid_structure_is_rejected(rates: str) -> None:
    text = f'{{"provider": "a", "model": "b", "structure": {{"rates": {rates}}}}}'

    with pytest.raises(ValidationError):
        NewPrice.model_validate_json(text)


@pytest.mark.parametrize("currency", ["QQQ", "usd", "XXX", "US"])
def test_a_currency_is_one_of_iso_4217(currency: str) -> None:
    text = f'{{"provider": "a", "model": "b", "currency": "{currency}"}}'

    with pytest.raises(ValidationError):
        NewPrice.model_validate_json(text)
