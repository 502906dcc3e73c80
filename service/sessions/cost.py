"""What a turn costs: exact decimals, and unknown rather than 0."""

from decimal import Context, Decimal

from service.event_log.unit_of_work import UnitOfWork
from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.price import Price, price_at
from service.sessions.turn import Cost, TokenCounts, Turn

PRICED_TOKENS = Decimal(1_000_000)
# Wide enough for any price times any count; nothing is ever rounded.
EXACT = Context(prec=60)


async def cost_of(turn: Turn, work: UnitOfWork) -> Cost | None:
    """Price a turn as of its own start; None when that isn't known.

    What was recorded stays when a past price is corrected later.
    """
    if turn.provider is None or turn.model is None:
        return None
    pricing = await work.find(
        ModelPricing, ModelPricing.create_id(turn.provider, turn.model)
    )
    price = price_at(pricing, turn.started_at) if pricing else None
    amount = amount_of(turn.tokens, price) if price else None
    if price is None or amount is None:
        return None
    return Cost(amount=amount, currency=price.currency, price_id=price.id)


def amount_of(tokens: TokenCounts, price: Price) -> Decimal | None:
    """Return the exact price of some tokens, or None when it isn't known.

    It isn't known without both counts, or when there are tokens of a kind without
    a price.
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
