"""Every comparison of the table."""

import sys

from tests.instruments.costs import genai, litellm_prices
from tests.instruments.costs.agreement import Agreement
from tests.support.harness.environment import MissingError


async def comparisons() -> list[Agreement]:
    """Compare with genai-prices and, if it can be installed, with LiteLLM."""
    found = [
        await genai.compare(genai.own_names(), "genai-prices: its own names"),
        await genai.compare(
            genai.structured_names(),
            "genai-prices: models with structure",
            is_full=True,
        ),
    ]
    try:
        folder = litellm_prices.litellm_folder()
    except MissingError as missing:
        print(f"NOT COMPARED with LiteLLM: {missing}", file=sys.stderr)  # noqa: T201
        return found
    names = genai.names_of_litellm(litellm_prices.price_file(folder).read_bytes())
    found.append(await genai.compare(names, "genai-prices: LiteLLM's names"))
    found.append(await litellm_prices.compare(folder))
    return found
