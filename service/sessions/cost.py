"""The cost of a turn: the sum of its model calls, or the reason why it is unknown."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Final, Literal

from typing_extensions import TypedDict

from service.event_log.finder import Finder
from service.pacing import Pace
from service.price_catalog.charge import EXACT, Charge, Unpriced
from service.price_catalog.pricing import price_call
from service.price_catalog.usage import ModelCallUsage
from service.sessions.turn import (
    ModelShare,
    PricedModelCall,
    PricedShare,
    TokenCounts,
    Turn,
)

# Instrumentations report amounts in it.
REPORTED_IN: Final = "USD"
# Names of providers and of their APIs that aren't the names of telemetry.
ROUTES: Final = frozenset(
    {"gemini", "bedrock", "converse", "invoke", "vertex_ai", "azure"}
)
# Nothing was charged: there was no model call.
NO_CHARGE: Final = Charge()

SEVERAL_CURRENCIES: Final = "several_currencies"
UnpricedReason = Literal[
    "no_such_model",
    "no_price_then",
    "count_missing",
    "counts_contradict",
    "contract_lacks_rate",
    "several_currencies",
]
"""Why a turn has no cost: those of a model call, or prices in several currencies."""


class ListCost(TypedDict):
    list_amount: Decimal | None
    list_currency: str | None


async def charge_of_turn(
    turn: Turn, catalog: Finder
) -> tuple[Charge, list[PricedShare]]:
    """Return the cost of a turn, and of each model's part of a turn made from spans.

    A recorded cost stays when a past price is corrected later, until it is repriced.
    """
    if turn.spans is None:
        return await _charge_of_reported(turn, catalog), []
    pace = Pace()
    priced = [
        PricedShare(share=share, charge=await _charge_of_share(share, catalog, pace))
        for share in turn.shares
    ]
    return total_charge([part.charge for part in priced]), priced


def total_charge(charges: Sequence[Charge]) -> Charge:
    """Return the sum of charges; it is unknown while one of them is.

    The price, the entry, the rule and the contract are those that all charges have in
    common.
    """
    counted = [charge for charge in charges if charge != NO_CHARGE]
    if not counted:
        return NO_CHARGE
    listed = _listed(counted)
    unpriced = next((charge for charge in counted if charge.unpriced), None)
    if unpriced is not None:
        return replace(unpriced, **listed)
    if len({charge.currency for charge in counted}) > 1:
        return Charge(unpriced=Unpriced.SEVERAL_CURRENCIES, **listed)

    def common(name: str) -> str | None:
        (value, *others) = {getattr(charge, name) for charge in counted}
        return None if others else value

    estimated = {name for charge in counted for name in charge.estimated}
    return Charge(
        amount=_sum(charge.amount for charge in counted),
        currency=counted[0].currency,
        price_id=common("price_id"),
        priced_as=common("priced_as"),
        rule=common("rule"),
        estimated=tuple(sorted(estimated)),
        contract_id=common("contract_id"),
        **listed,
    )


def costs_differ(
    cost: Decimal | None,
    currency: str | None,
    reported: Decimal | None,
    *,
    list_cost: Decimal | None = None,
    list_currency: str | None = None,
) -> bool:
    """Return whether what others computed differs by more than 1 % from our cost.

    Only amounts in one currency compare. Who doesn't know of a contract reports the
    cost by the list, which doesn't differ either.
    """
    if list_cost is not None and list_currency == REPORTED_IN:
        return _differs(cost, currency, reported) and _differs(
            list_cost, list_currency, reported
        )
    return _differs(cost, currency, reported)


def _differs(
    cost: Decimal | None, currency: str | None, reported: Decimal | None
) -> bool:
    if cost is None or reported is None or currency != REPORTED_IN:
        return False
    return abs(reported - cost) * 100 > max(cost, reported)


def _listed(charges: Sequence[Charge]) -> ListCost:
    """Return the sum of list prices, if each charge has one in the same currency."""
    currencies = {charge.list_currency for charge in charges}
    if len(currencies) > 1 or None in currencies:
        return {"list_amount": None, "list_currency": None}
    return {
        "list_amount": _sum(charge.list_amount for charge in charges),
        "list_currency": charges[0].list_currency,
    }


def _sum(amounts: Iterable[Decimal | None]) -> Decimal:
    total = None
    for amount in amounts:
        assert amount is not None
        total = amount if total is None else EXACT.add(total, amount)
    assert total is not None
    return total


async def _charge_of_share(share: ModelShare, catalog: Finder, pace: Pace) -> Charge:
    charges = []
    for call in share.calls:
        models = _names(share, call)
        charges.append(
            await _charge(call.usage, share.provider, models, call.started_at, catalog)
        )
        await pace.pause()
    return total_charge(charges)


def _names(share: ModelShare, call: PricedModelCall) -> list[str | None]:
    """Return the names of a call's model; LiteLLM's have the provider in front."""
    names = [share.model, call.asked_model]
    prefix = f"{share.provider}/"
    return [
        *names,
        *(name.removeprefix(prefix) for name in names if name),
        *(_without_route(name) for name in names if name),
    ]


def _without_route(name: str) -> str:
    """Return a model's name without the route that LiteLLM puts in front of it."""
    while True:
        route, _, rest = name.partition("/")
        if not rest or route not in ROUTES:
            return name
        name = rest


async def _charge_of_reported(turn: Turn, catalog: Finder) -> Charge:
    tokens = turn.tokens
    if turn.model is None and tokens == TokenCounts():
        return NO_CHARGE
    usage = ModelCallUsage(
        input_tokens=tokens.prompt,
        output_tokens=tokens.completion,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_creation,
    )
    return await _charge(usage, turn.provider, (turn.model,), turn.started_at, catalog)


async def _charge(
    usage: ModelCallUsage,
    provider: str | None,
    models: Sequence[str | None],
    at: datetime,
    catalog: Finder,
) -> Charge:
    charge = await price_call(
        usage, provider=provider, models=models, at=at, catalog=catalog
    )
    counts = (usage.input_tokens, usage.output_tokens)
    if charge.unpriced and counts == (0, 0):
        return NO_CHARGE
    # A name for the model alone wouldn't help.
    if charge.unpriced and counts == (None, None) and not any(models):
        return Charge(unpriced=Unpriced.COUNT_MISSING)
    return charge
