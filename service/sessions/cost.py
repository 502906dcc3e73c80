"""The cost of a turn: an exact decimal, or None if it is unknown."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Context, Decimal

from service.event_log.unit_of_work import UnitOfWork
from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.price import Price, price_at
from service.sessions.turn import Cost, ModelShare, PricedShare, TokenCounts, Turn

PRICED_TOKENS = Decimal(1_000_000)
# Precise enough for any price times any count, so nothing is rounded.
EXACT = Context(prec=60)


async def cost_of(turn: Turn, work: UnitOfWork) -> Cost | None:
    """Return a turn's cost at the price of its start, or None if unknown.

    A recorded cost stays when a past price is corrected later.
    """
    return await _cost(turn.provider, (turn.model,), turn.tokens, turn.started_at, work)


async def costs_of_shares(
    turn: Turn, work: UnitOfWork
) -> tuple[Cost | None, list[PricedShare]]:
    """Return the cost of a turn and of each model's part.

    The sum is None if the cost of a part is unknown, or they are in several
    currencies.
    """
    priced = [
        PricedShare(
            share=share,
            cost=await _cost(
                share.provider,
                (share.model, share.asked_model),
                share.tokens,
                turn.started_at,
                work,
            ),
        )
        for share in turn.shares
    ]
    known = [part.cost for part in priced if part.cost is not None]
    if not known or any(
        part.cost is None and _has_tokens(part.share) for part in priced
    ):
        return None, priced
    if len({cost.currency for cost in known}) > 1:
        return None, priced
    amount = Decimal(0)
    for cost in known:
        amount = EXACT.add(amount, cost.amount)
    (price_id, *others) = {cost.price_id for cost in known}
    total = Cost(
        amount=amount,
        currency=known[0].currency,
        price_id=None if others else price_id,
    )
    return total, priced


async def _cost(
    provider: str | None,
    models: Sequence[str | None],
    tokens: TokenCounts,
    at: datetime,
    work: UnitOfWork,
) -> Cost | None:
    """Return the cost of tokens by the first of a model's names that has a price."""
    if provider is None:
        return None
    for model in dict.fromkeys(models):
        if model is None:
            continue
        pricing = await work.find(ModelPricing, ModelPricing.create_id(provider, model))
        price = price_at(pricing, at) if pricing else None
        if price is None:
            continue
        amount = amount_of(tokens, price)
        if amount is None:
            return None
        return Cost(amount=amount, currency=price.currency, price_id=price.id)
    return None


def _has_tokens(share: ModelShare) -> bool:
    return bool(share.tokens.prompt or share.tokens.completion)


def amount_of(tokens: TokenCounts, price: Price) -> Decimal | None:
    """Return the exact cost of tokens, or None if it is unknown.

    It is unknown without both counts, or with tokens of a kind without a price.
    """
    if tokens.prompt is None or tokens.completion is None:
        return None
    cache_read = tokens.cache_read or 0
    cache_creation = tokens.cache_creation or 0
    total = Decimal(0)
    for count, price_per_1m in (
        (tokens.prompt - cache_read - cache_creation, price.input_price_per_1m),
        (tokens.completion, price.output_price_per_1m),
        (cache_read, price.cache_read_price_per_1m),
        (cache_creation, price.cache_creation_price_per_1m),
    ):
        if not count:
            continue
        if price_per_1m is None:
            return None
        total = EXACT.fma(Decimal(count), price_per_1m, total)
    return EXACT.divide(total, PRICED_TOKENS).normalize(EXACT)
