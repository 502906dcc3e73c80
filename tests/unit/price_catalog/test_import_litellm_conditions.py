"""Conditions in the names of LiteLLM's prices, and ranges that contradict."""

from typing import Any

import pytest

from service.price_catalog.imports.price_list import ReasonCode
from tests.unit.price_catalog.test_import_litellm_structure import (
    skipped_of,
    structure_of,
)


def test_a_threshold_and_batches_may_lack_a_part_of_their_words() -> None:
    made = structure_of(
        input_cost_per_token_above_200k=2e-6,
        input_cost_per_token_above_200k_batches=1e-6,
        output_cost_per_token_batch=2e-6,
    )

    assert made == structure_of(
        input_cost_per_token_above_200k_tokens=2e-6,
        input_cost_per_token_above_200k_tokens_batches=1e-6,
        output_cost_per_token_batches=2e-6,
    )
    assert made is not None


@pytest.mark.parametrize(
    "name",
    [
        "input_cost_per_token_below_128k_tokens",
        "input_cost_per_token_128k-1M_tokens",
        "input_cost_per_token_200k+_tokens",
        "input_cost_per_token_above_200ki_tokens",
        "input_cost_per_token_above_2e5_tokens",
        "input_cost_per_token_above-200k-tokens",
        "input_cost_per_token_above_1hr",
        "input_cost_per_token_batches_above_200k_tokens",
        "output_cost_per_audio_token_batched",
        "OUTPUT_COST_PER_TOKEN_ABOVE_200K_TOKENS",
    ],
)
def test_a_condition_that_can_t_be_read_makes_the_row_invalid(name: str) -> None:
    [skipped] = skipped_of(**{name: -2e-6})

    assert skipped.code == ReasonCode.INVALID_TIERS
    assert skipped.reason == f"{name} has a condition that can't be read"
    assert not skipped_of(**{name: None})


def test_other_numbers_in_names_of_prices_are_no_tiers() -> None:
    fields: Any = {
        "output_cost_per_image_1024": 0.04,
        "output_cost_per_image_0.5K": 0.02,
        "output_cost_per_image_above_512_and_512_pixels": 0.02,
        "output_cost_per_second_1080p": 0.1,
        "input_cost_per_video_per_second_above_15s_interval": 0.1,
        "code_interpreter_cost_per_session": 0.03,
        "cache_creation_input_token_cost_above_12hr": 1e-6,
        "max_input_tokens_above_200k": 100,
    }
    assert not skipped_of(**fields)
    assert structure_of(**fields) is None


@pytest.mark.parametrize(
    "ranges",
    [
        ([0, 1000], [0, 5000]),
        ([0.2], [0.7]),
        ([0, 10_000], [5000, 50_000]),
        ([0, 1000], [1000, 900]),
    ],
    ids=["same start", "same start in tokens", "overlap", "reversed"],
)
def test_tiers_that_contradict_each_other_make_the_row_invalid(ranges: Any) -> None:
    tiers = [{"range": bounds, "input_cost_per_token": 1e-6} for bounds in ranges]

    [skipped] = skipped_of(tiered_pricing=tiers)

    assert skipped.code == ReasonCode.INVALID_TIERS


def test_a_tier_beside_ranges_makes_the_row_invalid() -> None:
    tiers = [{"range": [0, 1000], "input_cost_per_token": 1e-6}]

    [skipped] = skipped_of(
        tiered_pricing=tiers, input_cost_per_token_above_200k_tokens=2e-6
    )

    assert skipped.code == ReasonCode.INVALID_TIERS
