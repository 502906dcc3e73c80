"""LiteLLM's real price file, every row of it, against the file's own digits."""

import json
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

import pytest

from service.price_catalog.imports.litellm.importer import import_litellm
from service.price_catalog.imports.price_list import Import, ImportedModel
from service.price_catalog.periods import price_values
from tests.instruments.costs.litellm_prices import VERSION, litellm_folder, price_file
from tests.support.harness.environment import INSTALL_TIMEOUT_S
from tests.support.price_catalog.prices import sent_back

SHA256 = "8f8060d8ce7a40c91b995c74d6a27657543d49e3c1c53430dabd556f244392c6"

FIELDS = (
    "input_cost_per_token",
    "output_cost_per_token",
    "cache_creation_input_token_cost",
    "cache_read_input_token_cost",
)
HALF_A_STEP = Fraction(1, 2 * 10**10)

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(INSTALL_TIMEOUT_S + 60)]


@pytest.fixture(scope="module")
def document() -> bytes:
    return price_file(litellm_folder()).read_bytes()


@pytest.fixture(scope="module")
def imported(document: bytes) -> Import:
    return import_litellm(document, version=VERSION)


@pytest.fixture(scope="module")
def entries(document: bytes) -> dict[str, dict[str, object]]:
    """Read the same file with its numbers left as they are written."""
    read: dict[str, dict[str, object]] = json.loads(
        document, parse_float=str, parse_int=str
    )
    return read


def entry_of(
    model: ImportedModel, entries: Mapping[str, dict[str, object]]
) -> dict[str, object]:
    prefixed = entries.get(f"{model.provider}/{model.model}")
    if prefixed is not None and prefixed["litellm_provider"] == model.provider:
        return prefixed
    return entries[model.model]


def lowest_prices(entry: dict[str, object]) -> dict[str, object]:
    tiers = entry.get("tiered_pricing")
    is_flat = entry.get(FIELDS[0]) is not None or entry.get(FIELDS[1]) is not None
    if is_flat or not isinstance(tiers, list):
        return entry
    by_start: dict[float, dict[str, object]] = {
        float(tier["range"][0]): tier for tier in tiers
    }
    return entry | by_start[min(by_start)]


def everything(imported: Import) -> list[ImportedModel]:
    return [*imported.models, *(held.model for held in imported.held)]


def test_each_row_is_imported_held_or_skipped(
    imported: Import, entries: dict[str, dict[str, object]]
) -> None:
    assert imported.source.sha256 == SHA256
    counted = len(everything(imported)) + len(imported.skipped)
    assert counted == len(entries) == 4553


def test_the_counts_are_those_measured(imported: Import) -> None:
    assert len(imported.models) == 3634
    assert len(imported.held) == 75
    assert Counter(each.code for each in imported.skipped) == {
        "other_mode": 698,
        "unpriced": 98,
        "commitment": 28,
        "duplicate": 16,
        "conflicting_duplicate": 2,
        "not_a_model": 2,
    }


def test_every_price_is_the_files_own_times_a_million(
    imported: Import, entries: dict[str, dict[str, object]]
) -> None:
    compared = 0
    inexact = 0
    for model in everything(imported):
        [period] = model.periods
        written = lowest_prices(entry_of(model, entries))
        for field, price in zip(FIELDS, period.prices, strict=True):
            literal = written.get(field)
            if literal is None:
                assert price is None
                continue
            assert price is not None
            compared += 1
            exact = Fraction(str(literal)) * 1_000_000
            if price != exact:
                inexact += 1
                assert abs(Fraction(price) - exact) <= HALF_A_STEP
                assert "Rounded to 10 decimal places" in (period.notes or "")
    assert (compared, inexact) == (9645, 53)


def test_free_models_are_those_run_on_ones_own_hardware(imported: Import) -> None:
    free = [each for each in imported.models if each.periods[0].costs_nothing]
    assert {each.provider for each in free} == {"lemonade", "ollama"}
    assert len(free) == 34


def test_the_conflicts_are_those_known(imported: Import) -> None:
    conflicts = [
        (each.provider, each.model)
        for each in imported.skipped
        if each.code == "conflicting_duplicate"
    ]
    assert conflicts == [("deepseek", "deepseek-chat"), ("gemini", "gemini-exp-1206")]


def test_every_price_can_be_sent_back(imported: Import) -> None:
    for model in everything(imported):
        for period in model.periods:
            price = price_values(period)
            assert sent_back(price) == price, model.key
