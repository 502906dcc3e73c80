"""The structure of prices in LiteLLM's price file."""

import json
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from service.price_catalog.charge import Unpriced, amount_of
from service.price_catalog.imports.litellm.importer import import_litellm
from service.price_catalog.imports.price_list import ReasonCode
from service.price_catalog.structure import Structure, rates_at
from service.price_catalog.usage import ModelCallUsage

# A Friday.
MORNING = datetime.fromisoformat("2026-11-20T08:15:00+00:00")
EVENING = datetime.fromisoformat("2026-11-20T20:00:00+00:00")


def structure_of(provider: str = "acme", **fields: Any) -> Structure | None:
    entry = {
        "litellm_provider": provider,
        "mode": "chat",
        "input_cost_per_token": 1e-6,
        "output_cost_per_token": 4e-6,
        **fields,
    }
    imported = import_litellm(json.dumps({"swift": entry}).encode())
    [period] = imported.models[0].periods
    return period.structure


def skipped_of(**fields: Any) -> Any:
    entry = {
        "litellm_provider": "acme",
        "mode": "chat",
        "input_cost_per_token": 1e-6,
        **fields,
    }
    return import_litellm(json.dumps({"swift": entry}).encode()).skipped


def cost(
    structure: Structure | None, usage: ModelCallUsage, at: datetime = MORNING
) -> Decimal | Unpriced:
    assert structure is not None
    return amount_of(rates_at(structure, at, usage.conditions), usage)


def test_four_flat_amounts_need_no_structure() -> None:
    assert structure_of(cache_read_input_token_cost=1e-7) is None


@pytest.mark.parametrize(
    ("provider", "length", "price"),
    [("acme", 200_000, 1), ("acme", 200_001, 2), ("xai", 200_000, 2)],
)
def test_a_tier_begins_above_its_threshold_except_at_xai(
    provider: str, length: int, price: int
) -> None:
    made = structure_of(provider, input_cost_per_token_above_200k_tokens=2e-6)

    used = ModelCallUsage(input_tokens=length, output_tokens=0)

    assert cost(made, used) == Decimal(length * price).scaleb(-6).normalize()


@pytest.mark.parametrize(
    "threshold",
    [
        *("above_200k", "above_200K", "above_200000", "above_200_000", "above_200,000"),
        *("above_0.2m", "above_0.2M", "200K", "Above_200k"),
        *("above_0,2M", "above_.2M", "above_200.000", "above_200_k", "over_200k"),
        *("gt_200k", "greater_than_200k", "beyond_200k", "exceeding_200k"),
        *("above_200k_input", "above_200k_prompt", "above_200_thousand"),
    ],
)
def test_a_threshold_may_be_written_in_any_way(threshold: str) -> None:
    tier: Any = {f"input_cost_per_token_{threshold}_tokens": 2e-6}
    made = structure_of(**tier)

    assert made == structure_of(input_cost_per_token_above_200k_tokens=2e-6)
    assert made is not None


@pytest.mark.parametrize(
    "fields",
    [
        {"input_cost_per_token_above_0.0001k_tokens": 2e-6},
        {"input_cost_per_token_above_0_tokens": 2e-6},
        {"input_cost_per_token_above_200.5_tokens": 2e-6},
        {"input_cost_per_token_above_200_000k_tokens": 2e-6},
        {"input_cost_per_token_above_2000000m_tokens": 2e-6},
        {
            "input_cost_per_token_above_200k_tokens": 2e-6,
            "input_cost_per_token_above_200000_tokens": 3e-6,
        },
    ],
)
def test_a_threshold_that_can_t_be_makes_the_row_invalid(
    fields: dict[str, float],
) -> None:
    [skipped] = skipped_of(**fields)

    assert skipped.code == ReasonCode.INVALID_TIERS
    assert "input_cost_per_token_above_" in skipped.reason


def test_more_hours_than_a_price_has_make_the_row_invalid() -> None:
    ranges = [f"{n // 60 % 24:02}:{n % 60:02}-23:59" for n in range(90_000)]
    offer = {"input_cost_per_token": 1e-7, "windows": [{"hours_utc": ranges}]}

    [skipped] = skipped_of(off_peak_pricing=offer)

    assert skipped.code == ReasonCode.INVALID_HOURS


def test_the_reason_for_an_invalid_price_names_its_own_field() -> None:
    [skipped] = skipped_of(input_cost_per_token_batches="free")

    assert skipped.reason.startswith("input_cost_per_token_batches ")


def test_tiers_alone_need_no_mode() -> None:
    tiers = [
        {"range": [0, 1000], "input_cost_per_token": 1e-6, "output_cost_per_token": 0},
        {"range": [1000, 2000], "input_cost_per_token": 2e-6},
    ]
    entry = {"litellm_provider": "acme", "tiered_pricing": tiers}

    imported = import_litellm(json.dumps({"swift": entry}).encode())

    assert not imported.skipped
    assert imported.models[0].periods[0].structure is not None


def test_ranges_of_tokens_state_all_rates() -> None:
    made = structure_of(
        tiered_pricing=[
            {"range": [0, 1000], "input_cost_per_token": 1e-6},
            {"range": [1000, 9000], "input_cost_per_token": 3e-6},
        ]
    )

    assert cost(made, ModelCallUsage(input_tokens=1000, output_tokens=0)) == Decimal(
        "0.001"
    )
    assert cost(made, ModelCallUsage(input_tokens=1001, output_tokens=0)) == Decimal(
        "0.003003"
    )


@pytest.mark.parametrize("start", ["-1", "1e12", "1e5000", "1e99999999"])
def test_a_range_that_no_prompt_reaches_makes_its_row_invalid(start: str) -> None:
    tiers = f'[{{"range": [{start}, 2e30], "input_cost_per_token": 1e-6}}]'
    entry = f'{{"litellm_provider": "a", "mode": "chat", "tiered_pricing": {tiers}}}'

    imported = import_litellm(f'{{"swift": {entry}}}'.encode())

    assert not imported.models
    assert [row.code for row in imported.skipped] == [ReasonCode.INVALID_TIERS]


def test_off_peak_hours_replace_the_rates_that_they_state() -> None:
    hours = {"hours_utc": ["16:30-00:30"], "weekdays": [5]}
    made = structure_of(
        off_peak_pricing={"input_cost_per_token": 5e-7, "windows": [hours]}
    )
    used = ModelCallUsage(input_tokens=1_000_000, output_tokens=1_000_000)

    assert cost(made, used, MORNING) == 5
    assert cost(made, used, EVENING) == Decimal("4.5")
    assert cost(made, used, EVENING.replace(day=21)) == 5


@pytest.mark.parametrize(
    "hours",
    [
        *({"hours_utc": "25:00-26:00"}, {"hours_utc": "24:00-08:00"}),
        *({"hours_utc": "08:00-08:60"}, {"hours_utc": "9:00-17:00"}, {}),
        {"windows": [{"hours_utc": "16:00-24:00", "weekdays": [0, 6]}]},
        {"windows": ["16:00-24:00"], "hours_utc": "16:00-24:00"},
    ],
)
def test_hours_that_can_t_be_read_make_the_row_invalid(hours: Any) -> None:
    offer = {"input_cost_per_token": 5e-7, **hours}

    assert [row.code for row in skipped_of(off_peak_pricing=offer)] == ["invalid_hours"]
    assert [row.code for row in skipped_of(off_peak_pricing=[offer])] == [
        "invalid_hours"
    ]


def test_days_of_another_time_zone_are_noted_alone() -> None:
    days = {"hours_utc": "00:00-00:00", "weekdays": [6, 7]}
    offer = {"input_cost_per_token": 5e-7, "windows": [days]}

    assert structure_of(off_peak_pricing=offer) is not None
    there = {**offer, "weekday_timezone": "Asia/Shanghai"}
    assert structure_of(off_peak_pricing=there) is None


def test_services_have_their_own_rates_and_the_standards_tiers() -> None:
    made = structure_of(
        input_cost_per_token_above_100k_tokens=2e-6,
        input_cost_per_token_priority=8e-6,
        input_cost_per_token_batches=5e-7,
    )

    def price(length: int, conditions: dict[str, str]) -> Decimal | Unpriced:
        used = ModelCallUsage(
            input_tokens=length, output_tokens=0, conditions=conditions
        )
        return cost(made, used)

    assert price(100_000, {"service_tier": "priority"}) == Decimal("0.8")
    assert price(100_000, {"service_tier": "fast"}) == Decimal("0.8")
    assert price(100_000, {"processing": "batch"}) == Decimal("0.05")
    assert price(200_000, {"service_tier": "priority"}) == Decimal("0.4")


def test_images_and_audio_have_rates() -> None:
    made = structure_of(
        mode="image_generation",
        input_cost_per_audio_token=3e-6,
        output_cost_per_image=0.04,
    )
    used = ModelCallUsage(
        input_tokens=1_000_000,
        output_tokens=0,
        input_audio_tokens=500_000,
        output_images=2,
    )

    assert cost(made, used) == Decimal("2.08")


def test_fireworks_charges_half_of_the_input_for_cached_tokens() -> None:
    made = structure_of("fireworks_ai")

    used = ModelCallUsage(input_tokens=1000, output_tokens=0, cache_read_tokens=1000)

    assert cost(made, used) == Decimal("0.0005")
