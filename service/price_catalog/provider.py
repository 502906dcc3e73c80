"""Providers of models, and the contracts with them."""

from datetime import datetime
from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.errors import NotFoundError
from service.events import Named, Published
from service.identifiers import named_id
from service.price_catalog.contracts import events
from service.price_catalog.contracts.terms import (
    ALL_MODELS,
    ContractPeriod,
    ContractTerms,
)
from service.price_catalog.period_changes import (
    part_to_correct,
    part_to_end,
    price_to_close,
    refuse_empty,
    refuse_too_many,
)
from service.price_catalog.periods import period_at, time_text


class Provider(LoggedAggregate):
    """A company that serves models; its key never changes.

    Its contracts are terms in periods, for each model and for all models. A contract
    price is identified by the version of the event that set it.
    """

    class Created(LoggedAggregate.Created):
        """A provider of models was registered.

        Emitted by ``POST /api/llm-router/providers`` and imports of price lists.
        """

        TOPIC = "provider.added"
        key: Published[str]
        display_name: Published[str]

        def sentence(self, named: Named) -> str:
            return f"added the provider {self.display_name!r} ({self.key})"

    ContractSet = events.ContractSet
    ContractEnded = events.ContractEnded
    ContractCorrected = events.ContractCorrected

    TOPIC = "provider"
    class_version = 2  # with contracts

    @staticmethod
    def create_id(key: str) -> UUID:
        return named_id("provider", key)

    @event(Created)
    def __init__(self, key: str, display_name: str) -> None:
        self.key = key
        self.display_name = display_name
        self.contracts: dict[str, list[ContractPeriod]] = {}

    def set_contract(
        self,
        model: str | None,
        terms: ContractTerms,
        *,
        effective_from: datetime,
        effective_until: datetime | None,
    ) -> bool:
        """Set the terms of a period and return whether that changed anything.

        An open period that starts earlier ends where this one starts.

        :raises PriceOverlapError: any other overlap; the message names the period
        """
        periods = self.contract_periods(model)
        start = time_text(effective_from)
        end = None if effective_until is None else time_text(effective_until)
        refuse_empty(start, end)
        known = period_at(periods, start)
        if known is not None and (
            (known["effective_until"], known["terms"]) == (end, terms)
        ):
            return False
        closes = price_to_close(periods, start, end)
        self._refuse_too_many()
        self.trigger_event(
            self.ContractSet,
            model=model,
            effective_from=start,
            effective_until=end,
            terms=terms,
            closes=closes,
        )
        return True

    def end_contract(self, price_version: int, *, effective_until: datetime) -> bool:
        """End a contract price earlier and return whether that changed anything.

        Ending it at its start withdraws it. If its period was split, the last part
        is ended.

        :raises NotFoundError: there is no such price, or corrections replaced it
        :raises PriceOverlapError: the end isn't within the price's period
        """
        model, periods = self._contract(price_version)
        end = time_text(effective_until)
        period = part_to_end(periods, price_version, end)
        if period is None:
            return False
        self.trigger_event(
            self.ContractEnded,
            model=model,
            price_version=price_version,
            effective_from=period["effective_from"],
            effective_until=end,
        )
        return True

    def correct_contract(
        self,
        price_version: int,
        terms: ContractTerms,
        *,
        effective_from: datetime | None,
        effective_until: datetime | None,
    ) -> bool:
        """Correct the terms of a contract price and return whether they differ.

        Without bounds the whole period is corrected, else the part within them.

        :raises NotFoundError: there is no such price, or corrections replaced it
        :raises PriceOverlapError: the bounds aren't within one period of the price
        """
        model, periods = self._contract(price_version)
        period, start, end = part_to_correct(
            periods, price_version, effective_from, effective_until
        )
        if period["terms"] == terms:
            return False
        self._refuse_too_many()
        self.trigger_event(
            self.ContractCorrected,
            model=model,
            corrects=price_version,
            effective_from=start,
            effective_until=end,
            terms=terms,
        )
        return True

    def contract_periods(self, model: str | None) -> list[ContractPeriod]:
        """Return the contract prices for a model alone; None: those for all models."""
        return self.contracts.get(model or ALL_MODELS, [])

    def contract_parts(self, price_version: int) -> list[ContractPeriod]:
        """Return the periods of a contract price; corrections may have split it."""
        return [
            period
            for periods in self.contracts.values()
            for period in periods
            if period["price_version"] == price_version
        ]

    def model_of(self, price_version: int) -> str | None:
        """Return the model that a contract price is for; None: all models.

        :raises NotFoundError: there is no such price, or corrections replaced it
        """
        return self._contract(price_version)[0]

    def _contract(self, price_version: int) -> tuple[str | None, list[ContractPeriod]]:
        for model, periods in self.contracts.items():
            if any(period["price_version"] == price_version for period in periods):
                return model or None, periods
        raise NotFoundError("there is no such contract price")

    def _refuse_too_many(self) -> None:
        known = sum(map(len, self.contracts.values()))
        refuse_too_many(known, of="a provider with contracts")
