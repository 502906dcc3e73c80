"""Commands that change the price catalog manually, with their authorization."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from service.errors import ConflictError, NotFoundError
from service.event_log.unit_of_work import UnitOfWork
from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.periods import (
    MANUAL,
    Period,
    PriceValues,
    parts_of,
    period_at,
    time_text,
)
from service.price_catalog.policy import refuse_unless_may_price
from service.price_catalog.provider import Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class AddProvider:
    key: str
    display_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPrice:
    """``effective_from`` None means now, ``effective_until`` None means open."""

    provider: str
    model: str
    price: PriceValues
    effective_from: datetime | None
    effective_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndPrice:
    """``effective_until`` None means now."""

    model_id: UUID
    price_version: int
    effective_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectPrice:
    """Bounds that are None are those of the price's period."""

    model_id: UUID
    price_version: int
    price: PriceValues
    effective_from: datetime | None
    effective_until: datetime | None


@dataclass(frozen=True, slots=True)
class ChangedPrice:
    """A model, the period of the command's price, and whether it changed.

    ``period`` is None if the price is never valid.
    """

    pricing: ModelPricing
    period: Period | None
    changed: bool


async def add_provider(command: AddProvider, work: UnitOfWork) -> tuple[Provider, bool]:
    """Add a provider and return it, and whether it is new.

    :raises ForbiddenError: the caller is no superuser
    :raises ConflictError: the key is taken by a provider of another name
    """
    refuse_unless_may_price(work.principal)
    known = await work.find(Provider, Provider.create_id(command.key))
    if known is not None:
        if known.display_name != command.display_name:
            raise ConflictError(
                f"the key {command.key} is taken by {known.display_name}",
                code="provider_key_taken",
            )
        return known, False
    provider = Provider(key=command.key, display_name=command.display_name)
    work.save(provider)
    return provider, True


async def set_price(command: SetPrice, work: UnitOfWork) -> ChangedPrice:
    """Set a model's price; a model without any is created with its first one.

    :raises ForbiddenError: the caller is no superuser
    :raises NotFoundError: there is no such provider
    :raises PriceOverlapError: the period overlaps another price
    """
    refuse_unless_may_price(work.principal)
    provider = await work.find(Provider, Provider.create_id(command.provider))
    if provider is None:
        raise NotFoundError("no such provider")
    pricing_id = ModelPricing.create_id(command.provider, command.model)
    pricing = await work.find(ModelPricing, pricing_id)
    work.match(pricing)
    if pricing is None:
        pricing = ModelPricing(
            provider_id=str(provider.id),
            provider_key=command.provider,
            model=command.model,
        )
    start = command.effective_from or work.at
    changed = pricing.set_price(
        command.price,
        effective_from=start,
        effective_until=command.effective_until,
        source=MANUAL,
    )
    work.save(pricing)
    return ChangedPrice(pricing, period_at(pricing.periods, time_text(start)), changed)


async def end_price(command: EndPrice, work: UnitOfWork) -> ChangedPrice:
    """End a price earlier; ending it at its start withdraws it.

    :raises ForbiddenError: the caller is no superuser
    :raises NotFoundError: there is no such model, or it has no such price
    :raises PriceOverlapError: the end isn't within the price's period
    """
    refuse_unless_may_price(work.principal)
    pricing = await _known_pricing(work, command.model_id)
    changed = pricing.end_price(
        command.price_version, effective_until=command.effective_until or work.at
    )
    work.save(pricing)
    parts = parts_of(pricing.periods, command.price_version)
    return ChangedPrice(pricing, parts[-1] if parts else None, changed)


async def correct_price(command: CorrectPrice, work: UnitOfWork) -> ChangedPrice:
    """Correct a price; the earlier one stays in the log.

    :raises ForbiddenError: the caller is no superuser
    :raises NotFoundError: there is no such model, or it has no such price
    :raises PriceOverlapError: the bounds aren't within one period of the price
    """
    refuse_unless_may_price(work.principal)
    pricing = await _known_pricing(work, command.model_id)
    changed = pricing.correct_price(
        command.price_version,
        command.price,
        effective_from=command.effective_from,
        effective_until=command.effective_until,
        source=MANUAL,
    )
    work.save(pricing)
    version = pricing.version if changed else command.price_version
    return ChangedPrice(pricing, parts_of(pricing.periods, version)[0], changed)


async def _known_pricing(work: UnitOfWork, model_id: UUID) -> ModelPricing:
    pricing = await work.find(ModelPricing, model_id)
    if pricing is None:
        raise NotFoundError("no such model")
    work.match(pricing)
    return pricing
