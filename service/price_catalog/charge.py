"""The amount charged for a model call: an exact decimal, or the reason for none."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from enum import StrEnum
from typing import Final

from service.price_catalog.structure import Rate
from service.price_catalog.usage import UNITS, ModelCallUsage

# Precise enough for any price times any count, so nothing is rounded.
EXACT: Final = Context(prec=100)
ROUNDED: Final = Context(prec=28)
# Without these counts a cost is unknown, unless they are free with all their parts.
NEEDED: Final = ("input_tokens", "output_tokens")


class Unpriced(StrEnum):
    """Why a model call has no known cost."""

    NO_SUCH_MODEL = "no_such_model"
    """No entry of the catalog matches the provider and the model."""

    NO_PRICE_THEN = "no_price_then"
    """The entry had no price at that time, or none for a unit that was used."""

    COUNT_MISSING = "count_missing"
    """The price needs a count that wasn't reported."""

    SEVERAL_CURRENCIES = "several_currencies"
    """The model calls of a turn have prices in different currencies."""

    COUNTS_CONTRADICT = "counts_contradict"
    """A part exceeds the whole, or the whole isn't the sum of its parts."""

    CONTRACT_LACKS_RATE = "contract_lacks_rate"
    """A contract in another currency than the list fixes no rate for what was used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """The cost of one model call, and how it was found.

    Either ``amount`` and ``currency`` are known, or ``unpriced`` says why not.
    ``priced_as`` is the matching entry of the catalog, ``provider/model``, and ``rule``
    how it matched; both are None if no entry matches. ``price_id`` is
    ``<model id>:<version>`` of the list price's event. ``contract_id`` is
    ``<provider id>:<version>`` of the event of the contract price that the amount rests
    on. ``list_amount`` is the cost by the list price alone, None if that is unknown.
    ``estimated`` names what the telemetry didn't tell for certain though the price
    depends on it.
    """

    amount: Decimal | None = None
    currency: str | None = None
    price_id: str | None = None
    priced_as: str | None = None
    rule: str | None = None
    unpriced: Unpriced | None = None
    estimated: tuple[str, ...] = ()
    contract_id: str | None = None
    list_amount: Decimal | None = None
    list_currency: str | None = None


def amount_of(rates: Mapping[str, Rate], usage: ModelCallUsage) -> Decimal | Unpriced:
    """Return the exact cost of usage at the rate of each unit, or why it is unknown.

    What has no rate of its own is charged with the unit that contains it: cached
    tokens as input. Tokens of the input and output that no rate charges have an
    unknown cost, unless the rates aren't by token.
    """
    if not rates:
        return Unpriced.NO_PRICE_THEN
    is_by_token = any(unit.endswith("_tokens") for unit in rates)
    prices: dict[str, Decimal] = {}
    for unit, rate in rates.items():
        price = _price(rate, usage)
        if price is None:
            return Unpriced.COUNT_MISSING
        prices[unit] = price
    counts = _counts({*rates, *NEEDED}, usage)
    for unit in NEEDED:
        # A part's count alone doesn't say what else the whole contains.
        if usage.count(unit) is None and (
            counts[unit] < 0 or _costs_something(unit, prices)
        ):
            return Unpriced.COUNT_MISSING
        if is_by_token and unit not in rates and counts[unit] > 0:
            return Unpriced.NO_PRICE_THEN
    if any(prices.values()) and all(usage.count(unit) is None for unit in prices):
        return Unpriced.COUNT_MISSING
    contradict = _contradicts_itself(usage) or any(n < 0 for n in counts.values())
    return Unpriced.COUNTS_CONTRADICT if contradict else _total(prices, counts)


def _contradicts_itself(usage: ModelCallUsage) -> bool:
    """Return whether a part exceeds its whole, also where neither has a rate."""
    if usage.total_tokens is not None:
        whole = (usage.input_tokens or 0) + (usage.output_tokens or 0)
        if usage.total_tokens != whole:
            return True
    cached = (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    inputs = (cached, usage.input_audio_tokens, usage.input_image_tokens)
    outputs = (
        usage.output_reasoning_tokens,
        usage.output_audio_tokens,
        usage.output_image_tokens,
    )
    return any(
        whole is not None and (part or 0) > whole
        for whole, parts in (
            (usage.input_tokens, inputs),
            (usage.output_tokens, outputs),
        )
        for part in parts
    )


def _costs_something(unit: str, prices: Mapping[str, Decimal]) -> bool:
    labels = UNITS[unit].labels
    return any(price and labels <= UNITS[part].labels for part, price in prices.items())


def _price(rate: Rate, usage: ModelCallUsage) -> Decimal | None:
    if not rate["tiers"]:
        return Decimal(rate["price"])
    length = usage.input_tokens
    return None if length is None else price_for(rate, length)


def price_for(rate: Rate, length: int) -> Decimal:
    """Return the price of a unit for a prompt of so many tokens."""
    price = rate["price"]
    for tier in rate["tiers"]:
        if length > tier["above"]:
            price = tier["price"]
    return Decimal(price)


def _counts(units: Collection[str], usage: ModelCallUsage) -> dict[str, int | Decimal]:
    """Return how much of each unit is left when its parts among them are deducted."""
    counts: dict[str, int | Decimal] = {}
    # The most specific units first: what they count is not charged again.
    for name in sorted(units, key=lambda name: -len(UNITS[name].labels)):
        labels = UNITS[name].labels
        parts = (count for part, count in counts.items() if labels < UNITS[part].labels)
        counts[name] = (usage.count(name) or 0) - sum(parts)
    return counts


def _total(
    prices: Mapping[str, Decimal], counts: Mapping[str, int | Decimal]
) -> Decimal:
    total = Decimal(0)
    # Only what is priced by the hour may not come out even.
    is_even = all(UNITS[name].per % 3600 for name in prices)
    context = EXACT if is_even else ROUNDED
    for name in sorted(prices, key=lambda name: -len(UNITS[name].labels)):
        amount = EXACT.multiply(Decimal(counts[name]), prices[name])
        total = context.add(total, context.divide(amount, Decimal(UNITS[name].per)))
    return total.normalize(EXACT)
