"""The price that a model call would have, without its usage."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from service.event_log.finder import Finder
from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.charge import Unpriced, price_for
from service.price_catalog.contracts.rates import contract_at, contract_rates
from service.price_catalog.periods import time_text
from service.price_catalog.price import price_at, rates_of
from service.price_catalog.pricing import entries_of
from service.price_catalog.provider import Provider
from service.price_catalog.structure import Rate
from service.price_catalog.usage import ModelCallUsage

NO_USAGE: Final = ModelCallUsage()


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectivePrice:
    """Rates by unit; the ids say where they are from, as those of a ``Charge`` do."""

    rates: dict[str, Rate]
    currency: str | None
    priced_as: str
    price_id: str | None
    contract_id: str | None

    def per_1m(self, unit: str, input_tokens: int = 0) -> Decimal | None:
        """Return the price of 1,000,000 tokens; None is unknown.

        ``input_tokens`` is the length of the prompt, by which some rates have tiers.
        """
        rate = self.rates.get(unit)
        return None if rate is None else price_for(rate, input_tokens)


async def effective_price(
    *, provider: str, model: str, at: datetime, catalog: Finder
) -> EffectivePrice | None:
    """Return the price of a model that a provider is called for; None is unknown.

    Found as :func:`~service.price_catalog.pricing.price_call` finds it: contracts with
    the provider count.
    """
    async for entry in entries_of(provider, (model,), at, catalog):
        pricing = await catalog.find(
            ModelPricing, ModelPricing.create_id(entry.provider, entry.model)
        )
        if pricing is None:
            continue
        listed = price_at(pricing, at)
        seller = await catalog.find(
            Provider, Provider.create_id(entry.seller or pricing.provider_key)
        )
        contract = None
        if seller is not None:
            contract = contract_at(
                seller.id, seller.contracts, pricing.model, time_text(at)
            )
        rates: dict[str, Rate] | Unpriced
        if contract is not None:
            rates = contract_rates(contract, listed, NO_USAGE, at)
            currency = contract.currency(listed)
        elif listed is not None:
            rates, currency = rates_of(listed, at, {}), listed.currency
        else:
            continue
        if isinstance(rates, Unpriced) or not rates:
            continue
        return EffectivePrice(
            rates=rates,
            currency=currency,
            priced_as=f"{pricing.provider_key}/{pricing.model}",
            price_id=None if listed is None else listed.id,
            contract_id=None if contract is None else contract.id,
        )
    return None
