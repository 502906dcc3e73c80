"""Commands that change contracts with providers, with their authorization."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from service.errors import InvalidRequestError, NotFoundError, Problem
from service.event_log.unit_of_work import UnitOfWork
from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.contracts.terms import ContractPeriod, ContractTerms
from service.price_catalog.periods import period_at, time_text
from service.price_catalog.policy import refuse_unless_may_price
from service.price_catalog.provider import Provider

NEEDS_MODEL: Final = "a price needs a model; for all models state discount_percent"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetContract:
    """``model`` None is all models, ``effective_from`` None now, no end is open."""

    provider: str
    model: str | None
    terms: ContractTerms
    effective_from: datetime | None
    effective_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndContract:
    """``effective_until`` None means now."""

    provider_id: UUID
    price_version: int
    effective_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectContract:
    """Bounds that are None are those of the contract price's period."""

    provider_id: UUID
    price_version: int
    terms: ContractTerms
    effective_from: datetime | None
    effective_until: datetime | None


@dataclass(frozen=True, slots=True)
class ChangedContract:
    """A provider, the period of the command's contract price, and whether it changed.

    ``period`` is None if the contract price is never valid.
    """

    provider: Provider
    model: str | None
    period: ContractPeriod | None
    changed: bool


async def set_contract(command: SetContract, work: UnitOfWork) -> ChangedContract:
    """Set the terms with a provider, for one model or for all.

    :raises ForbiddenError: the caller is no superuser
    :raises NotFoundError: there is no such provider, or it lists no such model
    :raises InvalidRequestError: a price for all models
    :raises PriceOverlapError: the period overlaps another contract price
    """
    refuse_unless_may_price(work.principal)
    provider = await work.find(Provider, Provider.create_id(command.provider))
    if provider is None:
        raise NotFoundError("no such provider")
    work.match(provider)
    if command.model is not None:
        listed = ModelPricing.create_id(command.provider, command.model)
        if await work.find(ModelPricing, listed) is None:
            raise NotFoundError("no such model: set its list price first")
    _refuse_price_of_all(command.model, command.terms)
    start = command.effective_from or work.at
    changed = provider.set_contract(
        command.model,
        command.terms,
        effective_from=start,
        effective_until=command.effective_until,
    )
    work.save(provider)
    period = period_at(provider.contract_periods(command.model), time_text(start))
    return ChangedContract(provider, command.model, period, changed)


async def end_contract(command: EndContract, work: UnitOfWork) -> ChangedContract:
    """End a contract price earlier; ending it at its start withdraws it.

    :raises ForbiddenError: the caller is no superuser
    :raises NotFoundError: there is no such provider or contract price
    :raises PriceOverlapError: the end isn't within the period
    """
    refuse_unless_may_price(work.principal)
    provider = await _known_provider(work, command.provider_id)
    model = provider.model_of(command.price_version)
    changed = provider.end_contract(
        command.price_version, effective_until=command.effective_until or work.at
    )
    work.save(provider)
    parts = provider.contract_parts(command.price_version)
    return ChangedContract(provider, model, parts[-1] if parts else None, changed)


async def correct_contract(
    command: CorrectContract, work: UnitOfWork
) -> ChangedContract:
    """Correct the terms of a contract price; the earlier ones stay in the log.

    :raises ForbiddenError: the caller is no superuser
    :raises NotFoundError: there is no such provider or contract price
    :raises InvalidRequestError: a price for all models
    :raises PriceOverlapError: the bounds aren't within one period of the price
    """
    refuse_unless_may_price(work.principal)
    provider = await _known_provider(work, command.provider_id)
    model = provider.model_of(command.price_version)
    _refuse_price_of_all(model, command.terms)
    changed = provider.correct_contract(
        command.price_version,
        command.terms,
        effective_from=command.effective_from,
        effective_until=command.effective_until,
    )
    work.save(provider)
    version = provider.version if changed else command.price_version
    parts = provider.contract_parts(version)
    return ChangedContract(provider, model, parts[0], changed)


async def _known_provider(work: UnitOfWork, provider_id: UUID) -> Provider:
    provider = await work.find(Provider, provider_id)
    if provider is None:
        raise NotFoundError("no such provider")
    work.match(provider)
    return provider


def _refuse_price_of_all(model: str | None, terms: ContractTerms) -> None:
    if model is None and terms["price"] is not None:
        raise InvalidRequestError(
            "the body is not valid", problems=[Problem("model", NEEDS_MODEL)]
        )
