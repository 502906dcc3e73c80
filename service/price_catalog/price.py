"""The price of a model at a moment, exactly."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.periods import Period, Provenance, instant, period_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a model cost in [effective_from, effective_until).

    Amounts are for 1,000,000 tokens; None is unknown, 0 is free. The event that
    stated it is the one of aggregate ``model_id`` at ``version``.
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

    @property
    def id(self) -> str:
        """Name the event that stated the price: ``<model id>:<version>``."""
        return f"{self.model_id}:{self.version}"


def price_at(pricing: ModelPricing, moment: datetime) -> Price | None:
    """Return the price that holds at a moment; None when there is none.

    The moment must have a zone.
    """
    period = period_at(pricing.periods, instant(moment))
    return None if period is None else price_of(pricing.id, period)


def price_of(model_id: UUID, period: Period) -> Price:
    """Return a period of an aggregate's state as a price."""
    values = period["price"]
    until = period["effective_until"]
    return Price(
        model_id=model_id,
        version=period["price_version"],
        input_price_per_1m=_amount(values["input_price_per_1m"]),
        output_price_per_1m=_amount(values["output_price_per_1m"]),
        cache_creation_price_per_1m=_amount(values["cache_creation_price_per_1m"]),
        cache_read_price_per_1m=_amount(values["cache_read_price_per_1m"]),
        currency=values["currency"],
        notes=values["notes"],
        effective_from=datetime.fromisoformat(period["effective_from"]),
        effective_until=None if until is None else datetime.fromisoformat(until),
        source=period["source"],
    )


def _amount(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)
