"""Render operation 5's answer to bytes."""

import gzip
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby
from operator import attrgetter
from uuid import UUID

from typing_extensions import TypedDict

from projections.price_catalog.queries import EffectivePrice, TimeRange
from service.http.envelope import Answer, render
from service.price_catalog.contracts.rates import less

MESSAGE = "providers with effective pricing"
GZIP_LEVEL = 6


class ContractEntry(TypedDict):
    """A model's prices by contract: those it fixes, and list prices less its discount.

    `price_version` is of the contract for the model, or else of the one for all models
    of the provider. Null: unknown, or only the list has one, in another currency.
    """

    price_version: int
    discount_percent: Decimal | None
    input_price_per_1m: Decimal | None
    output_price_per_1m: Decimal | None
    cache_creation_price_per_1m: Decimal | None
    cache_read_price_per_1m: Decimal | None
    currency: str
    effective_from: datetime
    effective_until: datetime | None


class ModelEntry(TypedDict):
    """A model and its effective list price; null is unknown, 0 is free.

    ``pricing_available``: both base prices are known. ``contract`` has the prices that
    model calls are charged by instead, null without a contract.
    """

    model: str
    pricing_available: bool
    input_price_per_1m: Decimal | None
    output_price_per_1m: Decimal | None
    cache_creation_price_per_1m: Decimal | None
    cache_read_price_per_1m: Decimal | None
    currency: str
    effective_from: datetime
    effective_until: datetime | None
    notes: str | None
    contract: ContractEntry | None


class ProviderEntry(TypedDict):
    provider: str
    display_name: str
    provider_id: UUID
    models: list[ModelEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class Representation:
    """The answer in one content encoding, None for none."""

    body: bytes
    etag: str
    encoding: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedCatalog:
    """The answer for any time in a span, as known at a position of the log."""

    epoch: UUID
    position: int
    span: TimeRange
    plain: Representation
    gzipped: Representation

    @property
    def size(self) -> int:
        return len(self.plain.body) + len(self.gzipped.body)


def render_catalog(
    prices: Sequence[EffectivePrice], *, epoch: UUID, position: int, span: TimeRange
) -> RenderedCatalog:
    """Render, compress and hash prices, which are in the order of the answer."""
    providers = [
        _provider_entry(list(group))
        for _, group in groupby(prices, key=attrgetter("provider_id"))
    ]
    body = render(Answer(message=MESSAGE, data=providers))
    digest = hashlib.sha256(body).hexdigest()[:32]
    return RenderedCatalog(
        epoch=epoch,
        position=position,
        span=span,
        plain=Representation(body=body, etag=f'"{digest}"', encoding=None),
        gzipped=Representation(
            # Without a timestamp, every process compresses to the same bytes.
            body=gzip.compress(body, GZIP_LEVEL, mtime=0),
            etag=f'"{digest}-gzip"',
            encoding="gzip",
        ),
    )


def _provider_entry(prices: Sequence[EffectivePrice]) -> ProviderEntry:
    first = prices[0]
    return {
        "provider": first.provider,
        "display_name": first.display_name,
        "provider_id": first.provider_id,
        "models": [_model_entry(price) for price in prices],
    }


def _model_entry(price: EffectivePrice) -> ModelEntry:
    base = (price.input_price_per_1m, price.output_price_per_1m)
    return {
        "model": price.model,
        "pricing_available": None not in base,
        "input_price_per_1m": price.input_price_per_1m,
        "output_price_per_1m": price.output_price_per_1m,
        "cache_creation_price_per_1m": price.cache_creation_price_per_1m,
        "cache_read_price_per_1m": price.cache_read_price_per_1m,
        "currency": price.currency,
        "effective_from": price.effective_from,
        "effective_until": price.effective_until,
        "notes": price.notes,
        "contract": contract_entry(price),
    }


def contract_entry(price: EffectivePrice) -> ContractEntry | None:
    contract = price.contract
    version = contract.own_version or contract.general_version
    if version is None:
        return None
    is_own = contract.own_version is not None
    since = contract.own_effective_from if is_own else contract.general_effective_from
    until = contract.own_effective_until if is_own else contract.general_effective_until
    discount = contract.own_discount
    if discount is None:
        discount = contract.general_discount
    currency = contract.currency or price.currency
    assert since is not None

    def amount(fixed: Decimal | None, listed: Decimal | None) -> Decimal | None:
        if fixed is not None or listed is None or currency != price.currency:
            return fixed
        return less(listed, discount or Decimal(0))

    return {
        "price_version": version,
        "discount_percent": discount,
        "input_price_per_1m": amount(
            contract.input_price_per_1m, price.input_price_per_1m
        ),
        "output_price_per_1m": amount(
            contract.output_price_per_1m, price.output_price_per_1m
        ),
        "cache_creation_price_per_1m": amount(
            contract.cache_creation_price_per_1m, price.cache_creation_price_per_1m
        ),
        "cache_read_price_per_1m": amount(
            contract.cache_read_price_per_1m, price.cache_read_price_per_1m
        ),
        "currency": currency,
        "effective_from": since,
        "effective_until": until,
    }
