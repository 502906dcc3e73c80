"""Importing the same price list again appends nothing, with a few statements."""

import json
import math
from unittest.mock import patch

import psycopg
import pytest

from service.price_catalog.imports.genai_prices.importer import import_genai_prices
from service.price_catalog.imports.litellm.importer import import_litellm
from service.price_catalog.imports.price_list import Import
from service.price_catalog.imports.report import ImportOutcome
from service.price_catalog.imports.run import BATCH_MODELS, import_prices
from service.resources import Resources

# Versions, events, whether they are current, and one spare.
STATEMENTS_OF_BATCH = 4
# The match rules, and which models have vanished.
STATEMENTS_OF_IMPORT = 20


def genai_prices() -> Import:
    pytest.importorskip("genai_prices", reason="install the extra named demo")
    return import_genai_prices()


def litellm() -> Import:
    return import_litellm(
        json.dumps(
            {
                f"m{number}": {
                    "litellm_provider": f"provider-{number % 50}",
                    "mode": "chat",
                    "input_cost_per_token": 2.5e-06,
                    "input_cost_per_token_above_200k_tokens": 5e-06,
                    "output_cost_per_token": 1e-05,
                }
                for number in range(1_000)
            }
        ).encode()
    )


@pytest.mark.parametrize("read", [genai_prices, litellm])
@pytest.mark.parametrize("is_cached", [True, False])
async def test_an_unchanged_price_list_appends_nothing(
    resources: Resources, read: object, *, is_cached: bool
) -> None:
    assert callable(read)
    await import_prices(resources, read(), confirm=["all"])
    head = await resources.log.head()
    if not is_cached:
        resources.log.cache.clear()
    source = read()

    with patch.object(
        psycopg.AsyncConnection,
        "execute",
        autospec=True,
        side_effect=psycopg.AsyncConnection.execute,
    ) as statements:
        again = await import_prices(resources, source, confirm=["all"])

    assert {each.outcome for each in again.results} == {ImportOutcome.UNCHANGED}
    assert again.match_rules_changed == []
    assert again.position is None
    assert await resources.log.head() == head
    batches = math.ceil(len(again.results) / BATCH_MODELS)
    assert batches >= 5
    assert (
        0
        < statements.call_count
        <= STATEMENTS_OF_BATCH * batches + STATEMENTS_OF_IMPORT
        < len(again.results)
    )
