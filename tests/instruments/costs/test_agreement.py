"""A sample of the comparison that ``make costs`` makes in full."""

from importlib.metadata import version
from itertools import islice

from tests.instruments.costs.__main__ import DOCUMENT
from tests.instruments.costs.genai import compare, own_names, structured_names
from tests.instruments.costs.litellm_prices import VERSION

STEP = 50


def test_the_documented_table_was_measured_with_the_installed_versions() -> None:
    versions = f"genai-prices {version('genai-prices')} and LiteLLM {VERSION}"

    assert f"Measured with {versions}," in DOCUMENT.read_text()


async def test_a_sample_of_names_costs_what_genai_prices_computes() -> None:
    agreement = await compare(islice(own_names(), 0, None, STEP), "sample")

    assert agreement.names > 50
    assert not agreement.unexplained
    assert agreement.equal > agreement.explained.total()


async def test_a_sample_of_tiers_hours_and_variants_costs_the_same() -> None:
    names = islice(structured_names(), 0, None, STEP)

    agreement = await compare(names, "sample", is_full=True)

    assert agreement.names > 5
    assert not agreement.unexplained
