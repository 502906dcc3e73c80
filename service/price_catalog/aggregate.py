"""The prices of a model over time."""

from datetime import datetime
from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.events import Id, Named, Published
from service.identifiers import named_id
from service.price_catalog import events
from service.price_catalog.period_changes import (
    part_to_correct,
    part_to_end,
    price_to_close,
    refuse_empty,
    refuse_too_many,
)
from service.price_catalog.periods import (
    Period,
    PriceValues,
    Provenance,
    existing_parts,
    period_at,
    time_text,
)


class ModelPricing(LoggedAggregate):
    """One model of one provider, with its past, present and future prices.

    A price is identified by the version of the event that set it, also after it is
    ended or a correction splits its period.
    """

    class Created(LoggedAggregate.Created):
        """A model gets its first price; the next event holds it.

        Emitted by ``POST /api/llm-router/prices`` and imports of price lists.
        """

        TOPIC = "model_pricing.listed"
        provider_id: Published[Id]
        provider_key: Published[str]
        model: Published[str]

        def sentence(self, named: Named) -> str:
            return f"listed the model {self.model!r} of provider {self.provider_key}"

    PriceSet = events.PriceSet
    PriceEnded = events.PriceEnded
    PriceCorrected = events.PriceCorrected
    PriceAnnotated = events.PriceAnnotated

    TOPIC = "model_pricing"
    # Snapshots of version 1 have prices without a structure.
    class_version = 2

    @staticmethod
    def create_id(provider_key: str, model: str) -> UUID:
        return named_id("model", provider_key, model)

    @event(Created)
    def __init__(self, provider_id: str, provider_key: str, model: str) -> None:
        self.provider_id = provider_id
        self.provider_key = provider_key
        self.model = model
        self.periods: list[Period] = []

    def set_price(
        self,
        price: PriceValues,
        *,
        effective_from: datetime,
        effective_until: datetime | None,
        source: Provenance,
    ) -> bool:
        """Set a price for a period and return whether that changed anything.

        An open period that starts earlier ends where this one starts.

        :raises PriceOverlapError: any other overlap; the message names the period
        """
        start = time_text(effective_from)
        end = None if effective_until is None else time_text(effective_until)
        refuse_empty(start, end)
        known = period_at(self.periods, start)
        if known is not None and (
            (known["effective_until"], known["price"], known["source"])
            == (end, price, source)
        ):
            return False
        closes = price_to_close(self.periods, start, end)
        refuse_too_many(len(self.periods), of="a model")
        self.trigger_event(
            self.PriceSet,
            effective_from=start,
            effective_until=end,
            price=price,
            source=source,
            closes=closes,
        )
        return True

    def end_price(self, price_version: int, *, effective_until: datetime) -> bool:
        """End a price earlier and return whether that changed anything.

        Ending it at its start withdraws it. If its period was split, the last part
        is ended.

        :raises NotFoundError: there is no such price, or corrections replaced it
        :raises PriceOverlapError: the end isn't within the price's period
        """
        end = time_text(effective_until)
        period = part_to_end(self.periods, price_version, end)
        if period is None:
            return False
        self.trigger_event(
            self.PriceEnded,
            price_version=price_version,
            effective_from=period["effective_from"],
            effective_until=end,
        )
        return True

    def correct_price(
        self,
        price_version: int,
        price: PriceValues,
        *,
        effective_from: datetime | None,
        effective_until: datetime | None,
        source: Provenance,
    ) -> bool:
        """Correct a price and return whether that changed anything.

        Without bounds the whole period is corrected, else the part within them.

        :raises NotFoundError: there is no such price, or corrections replaced it
        :raises PriceOverlapError: the bounds aren't within one period of the price
        """
        period, start, end = part_to_correct(
            self.periods, price_version, effective_from, effective_until
        )
        if (period["price"], period["source"]) == (price, source):
            return False
        refuse_too_many(len(self.periods), of="a model")
        self.trigger_event(
            self.PriceCorrected,
            corrects=price_version,
            effective_from=start,
            effective_until=end,
            price=price,
            source=source,
        )
        return True

    def annotate_price(self, price_version: int, notes: str | None) -> bool:
        """Replace the notes of a price and return whether they differ."""
        parts = existing_parts(self.periods, price_version)
        if all(part["price"]["notes"] == notes for part in parts):
            return False
        self.trigger_event(
            self.PriceAnnotated, price_version=price_version, notes=notes
        )
        return True
