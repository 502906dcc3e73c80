"""Short ways to say a price in the tests of the catalog."""

import json
from datetime import UTC, datetime
from typing import Any

from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.bodies import PriceBody
from service.price_catalog.periods import MANUAL, PriceValues, Provenance
from service.price_catalog.provider import Provider

LISTED: Provenance = {"name": "genai-prices", "version": "1", "sha256": "0" * 64}


def day(number: int) -> datetime:
    """Return midnight of a day of January 2026."""
    return datetime(2026, 1, number, tzinfo=UTC)


def price(
    amount: str | None = "1", output: str | None = "2", **others: Any
) -> PriceValues:
    values: PriceValues = {
        "input_price_per_1m": amount,
        "output_price_per_1m": output,
        "cache_creation_price_per_1m": None,
        "cache_read_price_per_1m": None,
        "currency": "USD",
        "notes": None,
        "structure": None,
    }
    return {**values, **others}  # type: ignore[typeddict-item]  # the test's own words


def provider(key: str = "acme", display_name: str = "Acme") -> Provider:
    return Provider(key=key, display_name=display_name)


def pricing(key: str = "acme", model: str = "swift-1") -> ModelPricing:
    return ModelPricing(
        provider_id=str(Provider.create_id(key)), provider_key=key, model=model
    )


def priced(*starts: int, source: Provenance = MANUAL) -> ModelPricing:
    """Return a model whose price is its start day, the last one open."""
    model = pricing()
    for number in starts:
        model.set_price(
            price(str(number)),
            effective_from=day(number),
            effective_until=None,
            source=source,
        )
    return model


def sent_back(price: PriceValues) -> PriceValues:
    """Return a price as a request with all of its values gives it."""
    return PriceBody.model_validate_json(json.dumps(price)).price
