"""Contracts with providers in the API's form."""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from typing_extensions import TypedDict

from service.price_catalog.contract_commands import ChangedContract
from service.price_catalog.contracts.terms import ContractPeriod
from service.price_catalog.periods import decimal_of
from service.price_catalog.price import price_in
from service.price_catalog.structure import Structure


class ContractPriceResource(TypedDict):
    """The terms of a contract in a period.

    `discount_percent` is off every list price that isn't fixed here. Prices are for
    1,000,000 tokens; null fixes none. `currency` is null without prices, `structure`
    holds all rates of a price that has more than the four.
    """

    price_version: int
    discount_percent: Decimal | None
    input_price_per_1m: Decimal | None
    output_price_per_1m: Decimal | None
    cache_creation_price_per_1m: Decimal | None
    cache_read_price_per_1m: Decimal | None
    currency: str | None
    effective_from: datetime
    effective_until: datetime | None
    notes: str | None
    structure: Structure | None


class ContractResource(TypedDict):
    """A provider, a model or null for all of its models, and a contract price.

    `price` is null when the contract price is no longer effective at any time.
    """

    provider_id: UUID
    provider: str
    model: str | None
    version: int
    price: ContractPriceResource | None


def contract_resource(outcome: ChangedContract) -> ContractResource:
    provider, period = outcome.provider, outcome.period
    return {
        "provider_id": provider.id,
        "provider": provider.key,
        "model": outcome.model,
        "version": provider.version,
        "price": contract_price_resource(provider.id, period) if period else None,
    }


def contract_price_resource(
    provider_id: UUID, period: ContractPeriod
) -> ContractPriceResource:
    terms = period["terms"]
    own = terms["price"]
    price = own and price_in(provider_id, period, own)
    until = period["effective_until"]
    return {
        "price_version": period["price_version"],
        "discount_percent": decimal_of(terms["discount_percent"]),
        "input_price_per_1m": price.input_price_per_1m if price else None,
        "output_price_per_1m": price.output_price_per_1m if price else None,
        "cache_creation_price_per_1m": (
            price.cache_creation_price_per_1m if price else None
        ),
        "cache_read_price_per_1m": price.cache_read_price_per_1m if price else None,
        "currency": price.currency if price else None,
        "effective_from": datetime.fromisoformat(period["effective_from"]),
        "effective_until": None if until is None else datetime.fromisoformat(until),
        "notes": terms["notes"],
        "structure": price.structure if price else None,
    }
