"""The rates of a model call by a contract: its own, or the list's less a discount."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

from service.price_catalog.charge import EXACT, Unpriced
from service.price_catalog.contracts.terms import ALL_MODELS, ContractPeriod
from service.price_catalog.periods import decimal_text, period_at
from service.price_catalog.price import Price, layers_of, price_in
from service.price_catalog.structure import Rate
from service.price_catalog.usage import ModelCallUsage

HUNDRED: Final = Decimal(100)


@dataclass(frozen=True, slots=True)
class Contract:
    """A contract that holds for a model call.

    ``price`` has the rates that it fixes, None fixes none; ``discount`` is in percent.
    """

    id: str
    price: Price | None
    discount: Decimal

    def currency(self, listed: Price | None) -> str | None:
        priced_by = self.price or listed
        return None if priced_by is None else priced_by.currency


def contract_at(
    provider_id: UUID,
    contracts: Mapping[str, list[ContractPeriod]],
    model: str,
    at: str,
) -> Contract | None:
    """Return the contract that holds for a model at a time.

    One for the model comes before one for all models, which gives the discount if that
    of the model states none.
    """
    of_model = period_at(contracts.get(model, ()), at)
    of_all = period_at(contracts.get(ALL_MODELS, ()), at)
    period = of_model or of_all
    if period is None:
        return None
    stated = [each["terms"]["discount_percent"] for each in (of_model, of_all) if each]
    price = period["terms"]["price"]
    return Contract(
        id=f"{provider_id}:{period['price_version']}",
        price=price and price_in(provider_id, period, price),
        discount=Decimal(next((each for each in stated if each is not None), 0)),
    )


def contract_rates(
    contract: Contract, listed: Price | None, usage: ModelCallUsage, at: datetime
) -> dict[str, Rate] | Unpriced:
    """Return the rates of a model call by a contract, or why one is missing.

    Rates that the contract doesn't fix are those of the list, less the discount: also
    the list's rates of batches and service tiers, if the contract has none for these.
    """
    conditions = usage.conditions
    base, variant = layers_of(listed, at, conditions) if listed else ({}, {})
    own, own_variant = (
        layers_of(contract.price, at, conditions) if contract.price else ({}, {})
    )
    if listed is None or listed.currency == contract.currency(listed):
        return {
            **discounted(base, contract.discount),
            **own,
            **discounted(variant, contract.discount),
            **own_variant,
        }
    needed = (base.keys() - own.keys()) | variant.keys()
    if any(usage.count(unit) for unit in needed - own_variant.keys()):
        return Unpriced.CONTRACT_LACKS_RATE
    return {**own, **own_variant}


def discounted(rates: Mapping[str, Rate], percent: Decimal) -> Mapping[str, Rate]:
    """Return rates less a discount, exactly."""
    if not percent:
        return rates
    return {
        unit: {
            "price": _less(rate["price"], percent),
            "tiers": [
                {"above": tier["above"], "price": _less(tier["price"], percent)}
                for tier in rate["tiers"]
            ],
        }
        for unit, rate in rates.items()
    }


def less(price: Decimal, percent: Decimal) -> Decimal:
    """Return a price less a discount, exactly."""
    rest = EXACT.multiply(price, EXACT.subtract(HUNDRED, percent))
    return EXACT.divide(rest, HUNDRED)


def _less(price: str, percent: Decimal) -> str:
    return decimal_text(less(Decimal(price), percent)) or "0"
