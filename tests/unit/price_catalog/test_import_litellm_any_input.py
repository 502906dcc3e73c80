"""Whatever the bytes are: an import that keeps its promises, or the named error."""

import contextlib
import json
from decimal import Decimal
from itertools import pairwise

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.price_catalog.imports.litellm.importer import (
    InvalidPriceSourceError,
    import_litellm,
)
from service.price_catalog.imports.price_list import Import, ImportedModel
from service.price_catalog.periods import NOTES_LENGTH_MAX

NUMBERS = st.one_of(
    st.floats(),
    st.integers(),
    st.sampled_from([0, 0.0, -0.0, 1e-6, 2.5e-06, 1e-300, 1e300]),
)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner)
    ),
    max_leaves=6,
)
FIELDS = st.sampled_from(
    [
        "input_cost_per_token",
        "output_cost_per_token",
        "cache_creation_input_token_cost",
        "cache_read_input_token_cost",
        "cache_creation_input_token_cost_above_1hr_above_200k_tokens_batches",
        "input_cost_per_token_above_200k_tokens",
        "input_cost_per_audio_token",
        "output_cost_per_image",
        "search_context_cost_per_query",
        "regional_processing_uplift_multiplier_eu",
        "deprecation_date",
        "metadata",
    ]
)
TIERS = st.lists(
    st.fixed_dictionaries({"range": st.lists(NUMBERS, max_size=3)})
    | st.dictionaries(FIELDS | st.just("range"), VALUES, max_size=4),
    max_size=4,
)
STARTS = st.sampled_from([0, 0.5, 1000, 10**12 - 1, 10**12, 1e30, 10**4000]) | NUMBERS
RANGES = st.lists(
    st.fixed_dictionaries(
        {
            "range": st.lists(STARTS, min_size=1, max_size=2),
            "input_cost_per_token": st.sampled_from([1e-6, 2e-6]),
        }
    ),
    min_size=2,
    max_size=4,
)
OFF_PEAK = st.fixed_dictionaries(
    {
        "windows": st.lists(
            st.fixed_dictionaries({"hours_utc": VALUES, "weekdays": VALUES}),
            max_size=3,
        )
    }
)
ENTRIES = st.builds(
    lambda provider, mode, fields, odd: {
        "litellm_provider": provider,
        "mode": mode,
        **fields,
        **odd,
    },
    st.sampled_from(["openai", "ollama", "azure"]) | VALUES,
    st.sampled_from(["chat", "embedding", "rerank"]) | VALUES,
    st.dictionaries(FIELDS, NUMBERS | VALUES, max_size=6),
    st.fixed_dictionaries(
        {},
        optional={
            "tiered_pricing": TIERS | VALUES,
            "off_peak_pricing": OFF_PEAK | VALUES,
            "provider_specific_entry": VALUES,
        },
    ),
)
KEYS = st.sampled_from(["m", "openai/m", "azure/m", "*", "sample_spec"]) | st.text()
DOCUMENTS = st.dictionaries(KEYS, ENTRIES | VALUES, max_size=6)


def all_models(imported: Import) -> list[ImportedModel]:
    return [*imported.models, *(held.model for held in imported.held)]


def check(imported: Import) -> None:
    models = all_models(imported)
    assert len({(each.provider, each.model) for each in models}) == len(models)
    for model in models:
        assert model.model
        assert model.model.isprintable()
        for earlier, later in pairwise(model.periods):
            assert earlier.effective_until is not None
            assert later.effective_from is not None
            assert earlier.effective_until <= later.effective_from
        for period in model.periods:
            assert len(period.notes or "") <= NOTES_LENGTH_MAX
            for price in period.prices:
                assert price is None or is_storable(price)
            structure = period.structure
            assert orjson.loads(orjson.dumps(structure)) == structure
    for skipped in imported.skipped:
        assert (skipped.provider + skipped.model + skipped.reason).isprintable()


def is_storable(price: Decimal) -> bool:
    _, _, exponent = price.as_tuple()
    return price.is_finite() and 0 <= price < 10**10 and -10 <= int(exponent) <= 0


@given(DOCUMENTS)
def test_every_document_is_imported_or_refused_by_name(
    document: dict[str, object],
) -> None:
    with contextlib.suppress(InvalidPriceSourceError):
        imported = import_litellm(json.dumps(document).encode())
        check(imported)
        rows = len(all_models(imported)) + len(imported.skipped)
        assert rows == len(document)


@given(st.dictionaries(KEYS, ENTRIES, min_size=1, max_size=4))
def test_one_importable_entry_survives_any_neighbours(
    neighbours: dict[str, object],
) -> None:
    sound = {
        "litellm_provider": "sound",
        "mode": "chat",
        "input_cost_per_token": 1e-6,
    }
    document = neighbours | {"sound/model": sound}
    imported = import_litellm(json.dumps(document).encode())
    check(imported)
    assert any(each.provider == "sound" for each in imported.models)


@given(RANGES)
def test_tiers_of_any_ranges_are_stored_as_they_are(ranges: list[object]) -> None:
    entry = {"litellm_provider": "a", "mode": "chat", "tiered_pricing": ranges}
    check(import_litellm(json.dumps({"model": entry}).encode()))


@given(st.binary() | st.text().map(lambda text: text.encode(errors="replace")))
def test_arbitrary_bytes_raise_nothing_else(document: bytes) -> None:
    with contextlib.suppress(InvalidPriceSourceError):
        check(import_litellm(document))


@given(st.recursive(VALUES, st.lists).map(json.dumps))
@pytest.mark.thorough
def test_arbitrary_json_raises_nothing_else(document: str) -> None:
    with contextlib.suppress(InvalidPriceSourceError):
        check(import_litellm(document.encode()))
