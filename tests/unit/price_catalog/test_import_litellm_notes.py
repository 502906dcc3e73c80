"""What LiteLLM says beside a flat price: tiers, hours, other units, deprecation."""

from decimal import Decimal

import pytest

from tests.unit.price_catalog.test_import_litellm import only_period


def notes(**fields: object) -> str:
    return only_period(**fields).notes or ""


def test_context_sizes_service_tiers_and_cache_lifetimes_are_noted() -> None:
    text = notes(
        input_cost_per_token_above_200k_tokens=5e-6,
        output_cost_per_token_above_200k_tokens=1.5e-5,
        cache_creation_input_token_cost_above_1hr=8e-6,
        cache_creation_input_token_cost_above_1hr_above_200k_tokens=1.2e-5,
        input_cost_per_token_batches=1.25e-6,
        input_cost_per_token_above_200k_tokens_priority=9e-6,
        input_cost_per_token_flex=None,
    )
    assert text == (
        "Also: cache write kept 1 h 8 per 1M. "
        "Batch: input 1.25 per 1M. "
        "Above 200,000 input tokens: input 5, output 15, cache write kept 1 h 12"
        " per 1M. "
        "Priority above 200,000 input tokens: input 9 per 1M."
    )


def test_tiers_without_a_flat_price_give_their_lowest_one() -> None:
    low = {"range": [0, 32000.0], "input_cost_per_token": 1e-6}
    high = {"range": [32000.0, 1e6], "input_cost_per_token": 4e-6}
    odd = {"range": [2e6, float("nan")], "input_cost_per_token": 5e-6}
    period = only_period(
        input_cost_per_token=None,
        output_cost_per_token=None,
        tiered_pricing=[odd, high, low],
    )
    assert period.input_price_per_1m == Decimal(1)
    assert period.output_price_per_1m is None
    assert period.notes == (
        "From 32,000 to 1,000,000 tokens: input 4 per 1M. "
        "From 2,000,000 tokens: input 5 per 1M."
    )


def test_a_flat_price_counts_over_tiers() -> None:
    period = only_period(
        tiered_pricing=[
            {"range": [0, 10], "input_cost_per_token": 1e-6},
            {"range": [10], "input_cost_per_token": 3e-6},
        ]
    )
    assert period.input_price_per_1m == Decimal("2.5")
    assert period.notes == "From 10 tokens: input 3 per 1M."


def test_an_off_peak_price_is_noted_and_the_peak_stays() -> None:
    windows = [
        {"hours_utc": ["00:00-01:00", "04:00-06:00"], "weekdays": [1, 2]},
        {"hours_utc": "00:00-00:00", "weekdays": [6, 7]},
    ]
    period = only_period(
        off_peak_pricing={"input_cost_per_token": 1e-6, "windows": windows}
    )
    assert period.input_price_per_1m == Decimal("2.5")
    assert period.notes == (
        "Off-peak price, Mon, Tue 00:00-01:00, 04:00-06:00 UTC;"
        " Sat, Sun 00:00-00:00 UTC: input 1 per 1M."
    )


def test_other_tokens_and_other_units_are_noted_apart() -> None:
    text = notes(
        input_cost_per_audio_token=4e-5,
        cache_read_input_audio_token_cost=2.5e-6,
        output_cost_per_reasoning_token=3e-6,
        input_cost_per_image=0.001,
        search_context_cost_per_query={"search_context_size_low": 0.01},
        output_cost_per_second=0.0,
    )
    assert text == (
        "Other tokens: cache read input audio 2.5, input audio 40,"
        " output reasoning 3 per 1M. "
        "Also charged: input per image, search context per query."
    )


def test_the_same_price_in_another_unit_or_name_is_not_noted() -> None:
    assert not notes(
        input_dbu_cost_per_token=1e-5,
        input_cost_per_token_cache_hit=1e-7,
        supports_vision=True,
        max_tokens=8192,
    )


def test_regional_factors_are_noted_and_other_provider_entries_are_not() -> None:
    text = notes(
        regional_processing_uplift_multiplier_eu=1.1,
        regional_endpoint_uplift_multiplier=1.2,
        provider_specific_entry={"us": 1.1, "minimax_free_input_images": 5},
    )
    assert text == (
        "Prices are multiplied for: regional endpoint 1.2,"
        " regional processing eu 1.1, us 1.1."
    )


@pytest.mark.parametrize(
    ("announced", "said"),
    [
        ("2027-03-11", "Deprecated from 2027-03-11."),
        ("next year", "Its deprecation is announced."),
        (20270311, "Its deprecation is announced."),
    ],
)
def test_deprecation_is_a_note_and_ends_no_period(announced: object, said: str) -> None:
    period = only_period(deprecation_date=announced)
    assert period.effective_until is None
    assert period.notes == said
