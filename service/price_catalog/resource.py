"""Providers and prices in the API's form."""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from typing_extensions import TypedDict

from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.periods import Period
from service.price_catalog.price import Price, price_of
from service.price_catalog.provider import Provider
from service.price_catalog.structure import Structure


class ProviderResource(TypedDict):
    id: UUID
    key: str
    display_name: str
    version: int
    created_at: datetime


class PriceSourceResource(TypedDict):
    """Origin of a price: ``manual``, or one version of a published list."""

    name: str
    version: str | None
    sha256: str | None


class PriceResource(TypedDict):
    """A price for 1,000,000 tokens; null is unknown, 0 is free.

    ``structure`` holds all rates of a price that has more than these four.
    """

    price_version: int
    input_price_per_1m: Decimal | None
    output_price_per_1m: Decimal | None
    cache_creation_price_per_1m: Decimal | None
    cache_read_price_per_1m: Decimal | None
    currency: str
    effective_from: datetime
    effective_until: datetime | None
    notes: str | None
    structure: Structure | None
    source: PriceSourceResource


class PricedModelResource(TypedDict):
    """A model and one of its prices.

    ``price`` is null when the price is no longer effective at any time.
    """

    model_id: UUID
    provider_id: UUID
    provider: str
    model: str
    version: int
    price: PriceResource | None


def provider_resource(provider: Provider) -> ProviderResource:
    return {
        "id": provider.id,
        "key": provider.key,
        "display_name": provider.display_name,
        "version": provider.version,
        "created_at": provider.created_on,
    }


def priced_model_resource(
    pricing: ModelPricing, period: Period | None
) -> PricedModelResource:
    return {
        "model_id": pricing.id,
        "provider_id": UUID(pricing.provider_id),
        "provider": pricing.provider_key,
        "model": pricing.model,
        "version": pricing.version,
        "price": price_resource(price_of(pricing.id, period)) if period else None,
    }


def price_resource(price: Price) -> PriceResource:
    return {
        "price_version": price.version,
        "input_price_per_1m": price.input_price_per_1m,
        "output_price_per_1m": price.output_price_per_1m,
        "cache_creation_price_per_1m": price.cache_creation_price_per_1m,
        "cache_read_price_per_1m": price.cache_read_price_per_1m,
        "currency": price.currency,
        "effective_from": price.effective_from,
        "effective_until": price.effective_until,
        "notes": price.notes,
        "structure": price.structure,
        "source": price.source,
    }
