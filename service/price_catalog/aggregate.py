"""Providers, and what their models cost when."""

from datetime import datetime
from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.errors import ConflictError, InvalidRequestError, NotFoundError
from service.events import Id, Named, Published, Time
from service.identifiers import named_id
from service.price_catalog.periods import (
    Period,
    PriceValues,
    Provenance,
    covers,
    instant,
    is_before,
    named,
    overlapping,
    period_at,
    says,
    stated,
    with_price_annotated,
    with_price_corrected,
    with_price_ended,
    with_price_set,
)
from service.price_catalog.sentences import period_text, price_text

PERIODS_MAX = 1000


class PriceOverlapError(ConflictError):
    """The time of a price is taken by another one."""

    code = "price_overlap"


class Provider(LoggedAggregate):
    """Somebody who serves models; the key is theirs for good."""

    class Created(LoggedAggregate.Created):
        """A provider of models was registered.

        Emitted by ``POST /api/llm-router/providers`` and imports of price lists.
        """

        TOPIC = "provider.added"
        key: Published[str]
        display_name: Published[str]

        def sentence(self, named: Named) -> str:
            return f"added the provider {self.display_name!r} ({self.key})"

    TOPIC = "provider"

    @staticmethod
    def create_id(key: str) -> UUID:
        return named_id("provider", key)

    @event(Created)
    def __init__(self, key: str, display_name: str) -> None:
        self.key = key
        self.display_name = display_name


class ModelPricing(LoggedAggregate):
    """One model of one provider, and the prices of its past, present and future.

    A price is named by the version of the event that stated it; it keeps that name
    when it is ended, or when a correction splits its period.
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

    class PriceSet(LoggedAggregate.Event):
        """A price is valid in a period; it ends the open price `closes`.

        ``closes`` is the price whose open period ends where this one starts.

        Emitted by ``POST /api/llm-router/prices`` and imports of price lists.
        """

        TOPIC = "model_pricing.price_set"
        effective_from: Published[Time]
        effective_until: Published[Time | None]
        price: Published[PriceValues]
        source: Published[Provenance]
        closes: Published[int | None]

        def sentence(self, named: Named) -> str:
            return f"set a price: {_price(self)} (source: {self.source['name']})"

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
            return f"ended price {self.price_version}: it holds {period}"

    class PriceCorrected(LoggedAggregate.Event):
        """The price of a period was wrong; this one replaces it.

        Emitted by ``POST
        /api/llm-router/models/{model_id}/prices/{price_version}/corrections`` and
        imports of price lists.
        """

        TOPIC = "model_pricing.price_corrected"
        corrects: Published[int]
        effective_from: Published[Time]
        effective_until: Published[Time | None]
        price: Published[PriceValues]
        source: Published[Provenance]

        def sentence(self, named: Named) -> str:
            return (
                f"corrected price {self.corrects}: {_price(self)} "
                f"(source: {self.source['name']})"
            )

    class PriceAnnotated(LoggedAggregate.Event):
        """The notes of a price have changed; the price has not.

        Emitted by imports of price lists.
        """

        TOPIC = "model_pricing.price_annotated"
        price_version: Published[int]
        notes: Published[str | None]

        def sentence(self, named: Named) -> str:
            return f"replaced the notes of price {self.price_version}"

    TOPIC = "model_pricing"

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
        """State a price for a period and return whether that changed anything.

        An open period that starts earlier is closed where this one starts.

        :raises PriceOverlapError: any other overlap; says with which period
        """
        start = instant(effective_from)
        end = None if effective_until is None else instant(effective_until)
        _refuse_empty(start, end)
        before = period_at(self.periods, start)
        if before is not None and says(before, end, price, source):
            return False
        closes = None
        for period in overlapping(self.periods, start, end):
            if period["effective_until"] is None and period["effective_from"] < start:
                closes = period["price_version"]
            else:
                raise PriceOverlapError(f"the time is taken by {named(period)}")
        self._refuse_too_many()
        self._price_set(
            effective_from=start,
            effective_until=end,
            price=price,
            source=source,
            closes=closes,
        )
        return True

    @event(PriceSet)
    def _price_set(
        self,
        effective_from: str,
        effective_until: str | None,
        price: PriceValues,
        source: Provenance,
        closes: int | None,
    ) -> None:
        period = stated(
            self._next_version, effective_from, effective_until, price, source
        )
        self.periods = with_price_set(self.periods, period, closes)

    def end_price(self, price_version: int, *, effective_until: datetime) -> bool:
        """Let a price end earlier and return whether that changed anything.

        Ending it where it starts withdraws it. Of a price whose period was split,
        the last part is meant.

        :raises NotFoundError: there is no such price, or it was corrected away
        :raises PriceOverlapError: that would lengthen it, or is before its start
        """
        period = self._parts(price_version)[-1]
        end = instant(effective_until)
        if end == period["effective_until"]:
            return False
        if end < period["effective_from"] or not is_before(
            end, period["effective_until"]
        ):
            raise PriceOverlapError(f"the end must lie within {named(period)}")
        self._price_ended(
            price_version=price_version,
            effective_from=period["effective_from"],
            effective_until=end,
        )
        return True

    @event(PriceEnded)
    def _price_ended(
        self, price_version: int, effective_from: str, effective_until: str
    ) -> None:
        self.periods = with_price_ended(self.periods, effective_from, effective_until)

    def correct_price(
        self,
        price_version: int,
        price: PriceValues,
        *,
        effective_from: datetime | None,
        effective_until: datetime | None,
        source: Provenance,
    ) -> bool:
        """State what a price really was and return whether that changed anything.

        Without bounds the whole period is corrected; bounds choose a part of it.

        :raises NotFoundError: there is no such price, or it was corrected away
        :raises PriceOverlapError: the bounds don't lie within one period of it
        """
        period = self._part(price_version, effective_from)
        start = instant(effective_from) if effective_from else period["effective_from"]
        end = instant(effective_until) if effective_until else period["effective_until"]
        _refuse_empty(start, end)
        if period["effective_until"] is not None and (
            end is None or end > period["effective_until"]
        ):
            raise PriceOverlapError(f"the time must lie within {named(period)}")
        if (period["price"], period["source"]) == (price, source):
            return False
        self._refuse_too_many()
        self._price_corrected(
            corrects=price_version,
            effective_from=start,
            effective_until=end,
            price=price,
            source=source,
        )
        return True

    @event(PriceCorrected)
    def _price_corrected(
        self,
        corrects: int,
        effective_from: str,
        effective_until: str | None,
        price: PriceValues,
        source: Provenance,
    ) -> None:
        period = stated(
            self._next_version, effective_from, effective_until, price, source
        )
        self.periods = with_price_corrected(self.periods, period)

    def annotate_price(self, price_version: int, notes: str | None) -> bool:
        """Replace the words beside a price and return whether they are other ones."""
        if all(part["price"]["notes"] == notes for part in self._parts(price_version)):
            return False
        self._price_annotated(price_version=price_version, notes=notes)
        return True

    @event(PriceAnnotated)
    def _price_annotated(self, price_version: int, notes: str | None) -> None:
        self.periods = with_price_annotated(self.periods, price_version, notes)

    @property
    def _next_version(self) -> int:
        """The version of an event while it is applied, which comes first."""
        return self.version + 1

    def _parts(self, price_version: int) -> list[Period]:
        parts = [
            each for each in self.periods if each["price_version"] == price_version
        ]
        if not parts:
            raise NotFoundError("this model has no such price")
        return parts

    def _part(self, price_version: int, start: datetime | None) -> Period:
        parts = self._parts(price_version)
        if start is None:
            if len(parts) > 1:
                raise PriceOverlapError(
                    "this price holds in several periods; effective_from must say "
                    "which: " + "; ".join(map(named, parts))
                )
            return parts[0]
        for part in parts:
            if covers(part, instant(start)):
                return part
        raise PriceOverlapError(
            "effective_from must lie within " + " or ".join(map(named, parts))
        )

    def _refuse_too_many(self) -> None:
        # A correction inside a period makes two more of it.
        if len(self.periods) + 2 > PERIODS_MAX:
            raise ConflictError(
                f"a model has at most {PERIODS_MAX} periods", code="too_many_periods"
            )


def _refuse_empty(start: str, end: str | None) -> None:
    if not is_before(start, end):
        raise InvalidRequestError("a price must end after it starts")


def _price(event: ModelPricing.PriceSet | ModelPricing.PriceCorrected) -> str:
    period = period_text(event.effective_from, event.effective_until)
    return f"{price_text(event.price)}, {period}"
