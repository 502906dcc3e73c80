"""The events of contracts with a provider."""

from typing import Any

from service.aggregate import LoggedAggregate
from service.events import Named, Published, Time
from service.price_catalog.contracts.terms import (
    ALL_MODELS,
    ContractPeriod,
    ContractTerms,
    model_text,
    terms_text,
)
from service.price_catalog.periods import (
    period_text,
    with_price_corrected,
    with_price_ended,
    with_price_set,
)


class ContractSet(LoggedAggregate.Event):
    """Terms of a contract hold in a period, for a model or for all models.

    ``closes`` is the contract price whose open period ends where this one starts.

    Emitted by ``POST /api/llm-router/contracts``.
    """

    TOPIC = "provider.contract_set"
    model: Published[str | None]
    effective_from: Published[Time]
    effective_until: Published[Time | None]
    terms: Published[ContractTerms]
    closes: Published[int | None]

    def sentence(self, named: Named) -> str:
        return f"set a contract price with {self.subject(named)} for {_terms(self)}"

    def apply(self, aggregate: Any) -> None:
        def change(periods: list[ContractPeriod]) -> list[ContractPeriod]:
            return with_price_set(periods, _period(self), self.closes)

        _change(aggregate, self.model, change)


class ContractEnded(LoggedAggregate.Event):
    """A contract price ends earlier; one that ends at its start is never valid.

    Emitted by ``POST
    /api/llm-router/contracts/{provider_id}/prices/{price_version}/end``.
    """

    TOPIC = "provider.contract_ended"
    model: Published[str | None]
    price_version: Published[int]
    effective_from: Published[Time]
    effective_until: Published[Time]

    def sentence(self, named: Named) -> str:
        period = period_text(self.effective_from, self.effective_until)
        return (
            f"ended contract price {self.price_version} with {self.subject(named)} "
            f"for {model_text(self.model)}: it is valid {period}"
        )

    def apply(self, aggregate: Any) -> None:
        def change(periods: list[ContractPeriod]) -> list[ContractPeriod]:
            return with_price_ended(periods, self.effective_from, self.effective_until)

        _change(aggregate, self.model, change)


class ContractCorrected(LoggedAggregate.Event):
    """The terms of a period were wrong; these replace them.

    Emitted by ``POST
    /api/llm-router/contracts/{provider_id}/prices/{price_version}/corrections``.
    """

    TOPIC = "provider.contract_corrected"
    model: Published[str | None]
    corrects: Published[int]
    effective_from: Published[Time]
    effective_until: Published[Time | None]
    terms: Published[ContractTerms]

    def sentence(self, named: Named) -> str:
        return (
            f"corrected contract price {self.corrects} with {self.subject(named)} "
            f"for {_terms(self)}"
        )

    def apply(self, aggregate: Any) -> None:
        def change(periods: list[ContractPeriod]) -> list[ContractPeriod]:
            return with_price_corrected(periods, _period(self))

        _change(aggregate, self.model, change)


def _change(aggregate: Any, model: str | None, change: Any) -> None:
    key = model or ALL_MODELS
    periods = change(aggregate.contracts.get(key, []))
    aggregate.contracts = {**aggregate.contracts, key: periods}


def _period(event: Any) -> ContractPeriod:
    """Return the period of a new contract price, which its event's version names."""
    return {
        "price_version": event.originator_version,
        "effective_from": event.effective_from,
        "effective_until": event.effective_until,
        "terms": event.terms,
    }


def _terms(event: ContractSet | ContractCorrected) -> str:
    period = period_text(event.effective_from, event.effective_until)
    return f"{model_text(event.model)}: {terms_text(event.terms)}, {period}"
