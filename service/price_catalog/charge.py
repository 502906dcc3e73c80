"""The amount charged for a model call: an exact decimal, or the reason for none."""

from dataclasses import dataclass
from decimal import Context, Decimal
from enum import StrEnum
from typing import Final

# Precise enough for any price times any count, so nothing is rounded.
EXACT: Final = Context(prec=60)


class Unpriced(StrEnum):
    """Why a call has no known cost."""

    NO_SUCH_MODEL = "no_such_model"
    """No entry of the catalog matches the provider and the model."""

    NO_PRICE_THEN = "no_price_then"
    """The entry had no price at that time, or none for a unit that was used."""

    COUNT_MISSING = "count_missing"
    """The price needs a count that wasn't reported."""

    COUNTS_CONTRADICT = "counts_contradict"
    """A part exceeds the whole, such as more cached tokens than input tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """The cost of one model call, and how it was found.

    Either ``amount``, ``currency`` and ``price_id`` are known, or ``unpriced`` says why
    not. ``priced_as`` is the matching entry of the catalog, ``provider/model``, and
    ``rule`` how it matched; both are None if no entry matches. ``price_id`` is
    ``<model id>:<version>`` of the price's event.
    """

    amount: Decimal | None = None
    currency: str | None = None
    price_id: str | None = None
    priced_as: str | None = None
    rule: str | None = None
    unpriced: Unpriced | None = None
