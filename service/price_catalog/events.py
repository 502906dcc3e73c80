"""The events of a model's prices, but for its listing."""

from typing import Any

from service.aggregate import LoggedAggregate
from service.events import Named, Published, Time
from service.price_catalog.periods import (
    Period,
    PriceValues,
    Provenance,
    period_text,
    price_text,
    with_price_annotated,
    with_price_corrected,
    with_price_ended,
    with_price_set,
)


class PriceSet(LoggedAggregate.Event):
    """A price is valid in a period; it ends the open price `closes`.

    ``closes`` is the price whose open period ends where this one starts.

    Emitted by ``POST /api/llm-router/prices`` and imports of price lists.
    """

    TOPIC = "model_pricing.price_set"
    class_version = 2
    effective_from: Published[Time]
    effective_until: Published[Time | None]
    price: Published[PriceValues]
    source: Published[Provenance]
    closes: Published[int | None]

    def sentence(self, named: Named) -> str:
        return (
            f"set a price of {self.subject(named)}: {_price(self)} "
            f"(source: {self.source['name']})"
        )

    def apply(self, aggregate: Any) -> None:
        period = _period(self)
        aggregate.periods = with_price_set(aggregate.periods, period, self.closes)


class PriceEnded(LoggedAggregate.Event):
    """A price ends earlier; one that ends at its start is never valid.

    Emitted by ``POST
    /api/llm-router/models/{model_id}/prices/{price_version}/end``.
    """

    TOPIC = "model_pricing.price_ended"
    price_version: Published[int]
    effective_from: Published[Time]
    effective_until: Published[Time]

    def sentence(self, named: Named) -> str:
        period = period_text(self.effective_from, self.effective_until)
        return (
            f"ended price {self.price_version} of {self.subject(named)}: "
            f"it is valid {period}"
        )

    def apply(self, aggregate: Any) -> None:
        aggregate.periods = with_price_ended(
            aggregate.periods, self.effective_from, self.effective_until
        )


class PriceCorrected(LoggedAggregate.Event):
    """The price of a period was wrong; this one replaces it.

    Emitted by ``POST
    /api/llm-router/models/{model_id}/prices/{price_version}/corrections`` and
    imports of price lists.
    """

    TOPIC = "model_pricing.price_corrected"
    class_version = 2
    corrects: Published[int]
    effective_from: Published[Time]
    effective_until: Published[Time | None]
    price: Published[PriceValues]
    source: Published[Provenance]

    def sentence(self, named: Named) -> str:
        return (
            f"corrected price {self.corrects} of {self.subject(named)}: "
            f"{_price(self)} "
            f"(source: {self.source['name']})"
        )

    def apply(self, aggregate: Any) -> None:
        aggregate.periods = with_price_corrected(aggregate.periods, _period(self))


class PriceAnnotated(LoggedAggregate.Event):
    """The notes of a price have changed; the price has not.

    Emitted by imports of price lists.
    """

    TOPIC = "model_pricing.price_annotated"
    price_version: Published[int]
    notes: Published[str | None]

    def sentence(self, named: Named) -> str:
        return (
            f"replaced the notes of price {self.price_version} of {self.subject(named)}"
        )

    def apply(self, aggregate: Any) -> None:
        aggregate.periods = with_price_annotated(
            aggregate.periods, self.price_version, self.notes
        )


def _period(event: Any) -> Period:
    """Return the period of a new price, which its event's version identifies."""
    return {
        "price_version": event.originator_version,
        "effective_from": event.effective_from,
        "effective_until": event.effective_until,
        "price": event.price,
        "source": event.source,
    }


def _price(event: PriceSet | PriceCorrected) -> str:
    period = period_text(event.effective_from, event.effective_until)
    return f"{price_text(event.price)}, {period}"
