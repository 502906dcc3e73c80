"""The exact price of a model at a point in time."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.periods import (
    MANUAL,
    Period,
    PriceValues,
    Provenance,
    Span,
    decimal_of,
    period_at,
    time_of,
    time_text,
)
from service.price_catalog.structure import (
    Rate,
    Structure,
    base_rates,
    variant_rates,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """A model's price in [effective_from, effective_until).

    Amounts are for 1,000,000 tokens; None is unknown, 0 is free. The event that
    set it is the one of aggregate ``model_id`` at ``version``.
    """

    model_id: UUID
    version: int
    input_price_per_1m: Decimal | None
    output_price_per_1m: Decimal | None
    cache_creation_price_per_1m: Decimal | None
    cache_read_price_per_1m: Decimal | None
    currency: str
    notes: str | None
    effective_from: datetime
    effective_until: datetime | None
    source: Provenance
    structure: Structure | None = None

    @property
    def id(self) -> str:
        """Identify the event that set the price: ``<model id>:<version>``."""
        return f"{self.model_id}:{self.version}"


def price_at(pricing: ModelPricing, at: datetime) -> Price | None:
    """Return the price at a time, which must have a zone, or None."""
    period = period_at(pricing.periods, time_text(at))
    return None if period is None else price_of(pricing.id, period)


def price_of(model_id: UUID, period: Period) -> Price:
    """Return a period of an aggregate's state as a price."""
    return price_in(model_id, period, period["price"], period["source"])


def price_in(
    aggregate_id: UUID, span: Span, values: PriceValues, source: Provenance = MANUAL
) -> Price:
    """Return the values of an event as a price for a time."""
    return Price(
        model_id=aggregate_id,
        version=span["price_version"],
        input_price_per_1m=decimal_of(values["input_price_per_1m"]),
        output_price_per_1m=decimal_of(values["output_price_per_1m"]),
        cache_creation_price_per_1m=decimal_of(values["cache_creation_price_per_1m"]),
        cache_read_price_per_1m=decimal_of(values["cache_read_price_per_1m"]),
        currency=values["currency"],
        notes=values["notes"],
        structure=values["structure"],
        effective_from=datetime.fromisoformat(span["effective_from"]),
        effective_until=time_of(span["effective_until"]),
        source=source,
    )


def rates_of(
    price: Price, at: datetime, conditions: Mapping[str, str]
) -> dict[str, Rate]:
    """Return the rate of each unit by a price, for a model call at a time."""
    base, variant = layers_of(price, at, conditions)
    return {**base, **variant} if variant else base


def layers_of(
    price: Price, at: datetime, conditions: Mapping[str, str]
) -> tuple[dict[str, Rate], dict[str, Rate]]:
    """Return the rates at a time, and those that a call's conditions replace."""
    if price.structure is not None:
        return (
            base_rates(price.structure, at),
            variant_rates(price.structure, at, conditions),
        )
    amounts = {
        "input_tokens": price.input_price_per_1m,
        "output_tokens": price.output_price_per_1m,
        "cache_read_tokens": price.cache_read_price_per_1m,
        "cache_write_tokens": price.cache_creation_price_per_1m,
    }
    base: dict[str, Rate] = {
        unit: {"price": format(amount, "f"), "tiers": []}
        for unit, amount in amounts.items()
        if amount is not None
    }
    return base, {}
