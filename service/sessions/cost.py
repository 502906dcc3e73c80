"""The cost of a turn: the sum of its model calls, or the reason why it is unknown."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal

from service.pacing import Pace
from service.price_catalog.charge import EXACT, Charge, Unpriced
from service.price_catalog.pricing import PriceCatalog, price_call
from service.price_catalog.usage import CallUsage
from service.sessions.turn import (
    ModelShare,
    PricedCall,
    PricedShare,
    TokenCounts,
    Turn,
)

# Nothing was charged: there was no model call.
NO_CHARGE: Final = Charge()

SEVERAL_CURRENCIES: Final = "several_currencies"
NOT_RECORDED: Final = "not_recorded"
UnpricedReason = Literal[
    "no_such_model",
    "no_price_then",
    "count_missing",
    "counts_contradict",
    "several_currencies",
    "not_recorded",
]
"""Why a turn has no cost: the reasons of a call, prices in several currencies, or a
turn that was recorded by a version that didn't record the reason."""


async def charge_of_turn(
    turn: Turn, catalog: PriceCatalog
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

    The price, the entry and the rule are those that all charges have in common.
    """
    counted = [charge for charge in charges if charge != NO_CHARGE]
    if not counted:
        return NO_CHARGE
    unpriced = next((charge for charge in counted if charge.unpriced), None)
    if unpriced is not None:
        return unpriced
    if len({charge.currency for charge in counted}) > 1:
        return Charge(unpriced=Unpriced.SEVERAL_CURRENCIES)
    first = counted[0]
    amount = first.amount
    for charge in counted[1:]:
        assert amount is not None
        assert charge.amount is not None
        amount = EXACT.add(amount, charge.amount)

    def common(name: str) -> str | None:
        (value, *others) = {getattr(charge, name) for charge in counted}
        return None if others else value

    return Charge(
        amount=amount,
        currency=first.currency,
        price_id=common("price_id"),
        priced_as=common("priced_as"),
        rule=common("rule"),
    )


async def _charge_of_share(
    share: ModelShare, catalog: PriceCatalog, pace: Pace
) -> Charge:
    charges = []
    for call in share.calls:
        models = _names(share, call)
        charges.append(
            await _charge(call.usage, share.provider, models, call.started_at, catalog)
        )
        await pace.pause()
    return total_charge(charges)


def _names(share: ModelShare, call: PricedCall) -> list[str | None]:
    """Return the names of a call's model; LiteLLM's have the provider in front."""
    names = [share.model, call.asked_model]
    prefix = f"{share.provider}/"
    return [*names, *(name.removeprefix(prefix) for name in names if name)]


async def _charge_of_reported(turn: Turn, catalog: PriceCatalog) -> Charge:
    tokens = turn.tokens
    if turn.model is None and tokens == TokenCounts():
        return NO_CHARGE
    usage = CallUsage(
        input_tokens=tokens.prompt,
        output_tokens=tokens.completion,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_creation,
    )
    return await _charge(usage, turn.provider, (turn.model,), turn.started_at, catalog)


async def _charge(
    usage: CallUsage,
    provider: str | None,
    models: Sequence[str | None],
    at: datetime,
    catalog: PriceCatalog,
) -> Charge:
    charge = await price_call(
        usage, provider=provider, models=models, at=at, catalog=catalog
    )
    if charge.unpriced and (usage.input_tokens, usage.output_tokens) == (0, 0):
        return NO_CHARGE
    return charge
