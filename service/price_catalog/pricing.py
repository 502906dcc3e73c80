"""The cost of a model call: find its entry in the catalog, then charge its usage.

This is the interface for every caller that has a model call and wants its cost::

    charge = await price_call(
        ModelCallUsage(input_tokens=1200, output_tokens=80, cache_read_tokens=1000),
        provider="openai",
        models=("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        at=call_started_at,
        catalog=work,
    )
    charge.amount or charge.unpriced

The catalog is a unit of work: the entries that a cost rests on are aggregates, which it
caches, and their versions are checked when the turn is appended. So a turn is priced
when it is recorded, its event says the cost, the price, the entry and the rule, and no
projector has to match anything. Matching takes the same few look-ups for each call: the
rules of the price lists are compiled once for each version of their aggregate, and the
result is kept for each provider, model and version.

Costs of several calls add up exactly (``EXACT.add``), if they have one currency; a sum
is unknown while the cost of a call is.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from service.event_log.finder import Finder
from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.charge import Charge, Unpriced, amount_of
from service.price_catalog.contracts.rates import contract_at, contract_rates
from service.price_catalog.match_rules import MatchRules
from service.price_catalog.matching import MatchedModel, index_of, names_of
from service.price_catalog.periods import time_text
from service.price_catalog.price import Price, price_at, rates_of
from service.price_catalog.provider import Provider
from service.price_catalog.usage import CONDITIONS, UNITS, ModelCallUsage

RULES_SOURCE: Final = "genai-prices"  # the only price list with rules


async def price_call(
    usage: ModelCallUsage,
    *,
    provider: str | None,
    models: Sequence[str | None],
    at: datetime,
    catalog: Finder,
) -> Charge:
    """Return the cost of a model call at the prices of its start.

    ``models`` are the names that the model call has, the one of the answer first: the
    first one with a price counts. ``provider`` is the name that the telemetry uses.
    """
    unpriced = Charge(unpriced=Unpriced.NO_SUCH_MODEL)
    async for entry in entries_of(provider, models, at, catalog):
        pricing = await catalog.find(
            ModelPricing, ModelPricing.create_id(entry.provider, entry.model)
        )
        if pricing is not None:
            seller = await catalog.find(
                Provider, Provider.create_id(entry.seller or pricing.provider_key)
            )
            charge = charge_of(pricing, usage, at, rule=entry.rule, seller=seller)
        elif "match" in entry.rule:
            # The price list knows the model, without a price.
            charge = Charge(
                priced_as=f"{entry.provider}/{entry.model}",
                rule=entry.rule,
                unpriced=Unpriced.NO_PRICE_THEN,
            )
        else:
            continue
        if charge.unpriced is not Unpriced.NO_PRICE_THEN:
            return charge
        unpriced = charge
    return unpriced


async def entries_of(
    provider: str | None,
    models: Sequence[str | None],
    at: datetime,
    catalog: Finder,
) -> AsyncIterator[MatchedModel]:
    """Yield the entries that a call's names may mean, the most certain one first."""
    rules: MatchRules | None = None
    for model in dict.fromkeys(models):
        if model is None:
            continue
        if provider is not None:
            yield MatchedModel(provider, model, "name")
        if rules is None:
            rules = await catalog.find(MatchRules, MatchRules.create_id(RULES_SOURCE))
        if rules is not None:
            entry = index_of(rules).find(provider, model, time_text(at))
            if entry is not None:
                yield entry
        if provider is not None:
            for entry in names_of(provider, model):
                yield entry


def charge_of(
    entry: ModelPricing,
    usage: ModelCallUsage,
    at: datetime,
    *,
    rule: str,
    seller: Provider | None = None,
) -> Charge:
    """Return the cost of a model call by an entry of the catalog, at a time.

    ``seller`` is the provider that was called, whose contracts count: it may offer
    models of another one.
    """
    price = price_at(entry, at)
    listed = _list_charge(entry, price, usage, at, rule)
    if seller is None or not seller.contracts:
        return listed
    contract = contract_at(seller.id, seller.contracts, entry.model, time_text(at))
    if contract is None:
        return listed
    rates = contract_rates(contract, price, usage, at)
    amount = rates if isinstance(rates, Unpriced) else amount_of(rates, usage)
    charge = replace(listed, contract_id=contract.id)
    if usage.untold and contract.price is not None:
        names = (*listed.estimated, *_estimated(contract.price, usage, at))
        charge = replace(charge, estimated=tuple(dict.fromkeys(names)))
    if isinstance(amount, Unpriced):
        unknown = replace(charge, amount=None, currency=None, unpriced=amount)
        return replace(unknown, estimated=())
    currency = contract.currency(price)
    return replace(charge, amount=amount, currency=currency, unpriced=None)


def _list_charge(
    entry: ModelPricing,
    price: Price | None,
    usage: ModelCallUsage,
    at: datetime,
    rule: str,
) -> Charge:
    priced_as = f"{entry.provider_key}/{entry.model}"
    if price is None:
        return Charge(priced_as=priced_as, rule=rule, unpriced=Unpriced.NO_PRICE_THEN)
    amount = amount_of(rates_of(price, at, usage.conditions), usage)
    if isinstance(amount, Unpriced):
        return Charge(priced_as=priced_as, rule=rule, unpriced=amount)
    return Charge(
        amount=amount,
        currency=price.currency,
        price_id=price.id,
        priced_as=priced_as,
        rule=rule,
        estimated=_estimated(price, usage, at) if usage.untold else (),
        list_amount=amount,
        list_currency=price.currency,
    )


def _estimated(price: Price, usage: ModelCallUsage, at: datetime) -> tuple[str, ...]:
    """Return what wasn't told for certain and the price depends on."""
    names: set[str] = set(rates_of(price, at, usage.conditions))
    if price.structure is not None:
        for variant in price.structure["variants"]:
            names.update(variant["rates"], variant["when"])
    return tuple(
        name
        for name in usage.untold
        if name in names or (name not in UNITS and name not in CONDITIONS)
    )
