"""Amounts of money that a provider, or an instrumentation, reports."""

from decimal import Decimal
from typing import Any, Final

# The least amount but 0, so that sums of amounts with 100 digits are exact.
AMOUNT_MIN: Final = 1e-30
AMOUNT_MAX: Final = 10**9


def reported_amount(value: Any) -> Decimal | None:
    """Return a number as an amount of money, or None if it isn't a valid one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if value != 0 and not AMOUNT_MIN <= value <= AMOUNT_MAX:
        return None
    # The shortest decimal that means the same double.
    return Decimal(repr(value))
