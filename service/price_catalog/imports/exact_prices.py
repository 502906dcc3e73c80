"""Read prices and names of a price list exactly, or reject their row."""

from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, Context, Decimal

from service.price_catalog.imports.price_list import ReasonCode
from service.price_catalog.periods import (
    NAME_LENGTH_MAX,
    PRICE_DECIMAL_PLACES,
    PRICE_LIMIT,
)

# Precise enough for every price below the limit, so that only the rounding below
# rounds. Independent of the calling thread's context.
_EXACT = Context(prec=40, rounding=ROUND_HALF_EVEN)


class RefusedRowError(Exception):
    """A row can't be imported; importers report it as a SkippedModel."""

    def __init__(self, code: ReasonCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def read_price(value: object, *, field: str, per_tokens: int) -> Decimal | None:
    """Convert a price for one or for 1,000,000 tokens to one for 1,000,000.

    Rounds once, half to even, to PRICE_DECIMAL_PLACES; all other digits are the
    source's. A price that would be rounded to 0, which means free, is rejected.

    :raises RefusedRowError: the value isn't a finite decimal in [0, PRICE_LIMIT)
    """
    if value is None:
        return None
    if not isinstance(value, Decimal):
        raise RefusedRowError(ReasonCode.INVALID_PRICE, f"{field} isn't a number")
    if not value.is_finite():
        raise RefusedRowError(ReasonCode.INVALID_PRICE, f"{field} isn't finite")
    if value < 0:
        raise RefusedRowError(ReasonCode.INVALID_PRICE, f"{field} is negative")
    shift = _decimal_shift(per_tokens)
    rounded = _rounded(value, shift=shift)
    if rounded is None:
        reason = f"{field} is above the limit for prices"
        raise RefusedRowError(ReasonCode.PRICE_OUT_OF_RANGE, reason)
    if value and not rounded:
        reason = f"{field} is too small for a price and isn't 0"
        raise RefusedRowError(ReasonCode.PRICE_OUT_OF_RANGE, reason)
    return rounded


def read_prices(
    values: Mapping[str, object], *, per_tokens: int, label: str = ""
) -> dict[str, Decimal]:
    """Read prices by field, without those that are None.

    :raises RefusedRowError: as :func:`read_price`, with ``label`` before the field
    """
    prices: dict[str, Decimal] = {}
    for field, value in values.items():
        price = read_price(value, field=label + field, per_tokens=per_tokens)
        if price is not None:
            prices[field] = price
    return prices


def is_rounded(price: Decimal, value: object, *, per_tokens: int) -> bool:
    """Return whether ``price``, from read_price, differs from the source's."""
    return price.scaleb(-_decimal_shift(per_tokens), context=_EXACT) != value


def read_name(text: str) -> str:
    """Return a model's name.

    :raises RefusedRowError: it can't be stored or shown unchanged
    """
    if not text or len(text) > NAME_LENGTH_MAX:
        reason = f"a name has 1 to {NAME_LENGTH_MAX} characters"
        raise RefusedRowError(ReasonCode.INVALID_NAME, reason)
    if not text.isprintable() or text != text.strip():
        reason = "a name has no control characters and no leading or trailing spaces"
        raise RefusedRowError(ReasonCode.INVALID_NAME, reason)
    return text


def _rounded(value: Decimal, *, shift: int) -> Decimal | None:
    limit = PRICE_LIMIT.scaleb(-shift, context=_EXACT)
    if value >= limit:
        return None
    step = Decimal(1).scaleb(-PRICE_DECIMAL_PLACES - shift, context=_EXACT)
    rounded = value.quantize(step, context=_EXACT).copy_abs()  # -0 is 0
    return _plain(rounded.scaleb(shift, context=_EXACT)) if rounded < limit else None


def _plain(value: Decimal) -> Decimal:
    """Drop trailing zeros, so that equal prices have equal texts."""
    short = value.normalize(_EXACT)
    _, _, exponent = short.as_tuple()
    whole = isinstance(exponent, int) and exponent > 0
    return short.quantize(Decimal(1), context=_EXACT) if whole else short


def _decimal_shift(per_tokens: int) -> int:
    return {1: 6, 1_000_000: 0}[per_tokens]
