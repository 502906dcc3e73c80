"""How importers read a price exactly, or refuse the row that states it."""

from decimal import ROUND_HALF_EVEN, Context, Decimal

from service.price_catalog.importers.price_rows import ReasonCode

PRICE_DECIMAL_PLACES = 10
PRICE_LIMIT = Decimal(10) ** 10  # with the places above: numeric(20, 10)
NAME_LENGTH_MAX = 256

# Wide enough for every price under the limit, so only the rounding below rounds,
# whatever the calling thread's own context says.
_EXACT = Context(prec=40, rounding=ROUND_HALF_EVEN)


class RefusedRowError(Exception):
    """One row can't be imported; importers turn it into a SkippedModel."""

    def __init__(self, code: ReasonCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def read_price(value: object, *, field: str, per_tokens: int) -> Decimal | None:
    """Give the price for 1,000,000 tokens of a price for one or for 1,000,000.

    Rounds once, half to even, to PRICE_DECIMAL_PLACES; every other digit is the
    source's own. A price too small to keep is refused: rounded, it would be free.

    :raises RefusedRowError: if the value is no finite decimal in [0, PRICE_LIMIT)
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
        reason = f"{field} is more than a price can be"
        raise RefusedRowError(ReasonCode.PRICE_OUT_OF_RANGE, reason)
    if value and not rounded:
        reason = f"{field} is too small to keep and isn't 0"
        raise RefusedRowError(ReasonCode.PRICE_OUT_OF_RANGE, reason)
    return rounded


def is_rounded(price: Decimal, value: Decimal, *, per_tokens: int) -> bool:
    """Tell whether ``price``, as read_price gave it, differs from the source's."""
    return price.scaleb(-_decimal_shift(per_tokens), context=_EXACT) != value


def read_name(text: str) -> str:
    """Give a model's name back if it can be stored and shown as it is.

    :raises RefusedRowError: if it can't
    """
    if not text or len(text) > NAME_LENGTH_MAX:
        reason = f"a name has 1 to {NAME_LENGTH_MAX} characters"
        raise RefusedRowError(ReasonCode.INVALID_NAME, reason)
    if not text.isprintable() or text != text.strip():
        reason = "a name has no control characters and no spaces around it"
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
    """Drop trailing zeros, so that equal prices are also written equally."""
    short = value.normalize(_EXACT)
    _, _, exponent = short.as_tuple()
    whole = isinstance(exponent, int) and exponent > 0
    return short.quantize(Decimal(1), context=_EXACT) if whole else short


def _decimal_shift(per_tokens: int) -> int:
    return {1: 6, 1_000_000: 0}[per_tokens]
