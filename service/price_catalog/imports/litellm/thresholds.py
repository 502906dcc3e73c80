"""Thresholds in the names of LiteLLM's fields, however their number is written."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from service.price_catalog.imports.exact_prices import RefusedRowError
from service.price_catalog.imports.litellm.notes import TOKENS_LIMIT
from service.price_catalog.imports.price_list import ReasonCode
from service.price_catalog.imports.price_notes import printable
from service.price_catalog.periods import NAME_LENGTH_MAX

# above_200k_tokens, above_200K_tokens, above_200000_tokens, above_0.2M_tokens.
_WRITTEN: Final = re.compile(
    r"_(?:above_)?([0-9]{1,20}(?:[.,_][0-9]{1,20})?)([km]?)_tokens", re.IGNORECASE
)
_FACTORS: Final = {"": 1, "k": 1_000, "m": 1_000_000}


def with_plain_thresholds(entry: Mapping[str, object]) -> dict[str, object]:
    """Return an entry whose fields write thresholds as above_200k_tokens.

    Or as above_200500_tokens, if they are no thousands.

    :raises RefusedRowError: a threshold is no number of tokens, or is written in two
        ways, with different prices
    """
    plain: dict[str, object] = {}
    for written, value in entry.items():
        found = _WRITTEN.search(written) if "cost" in written else None
        name = written
        if found is not None:
            threshold = _threshold(written, found[1], found[2].lower())
            before, after = written[: found.start()], written[found.end() :]
            name = f"{before}_above_{threshold}_tokens{after}"
        if name in plain and plain[name] != value:
            raise _invalid(written, "is written in two ways, with different prices")
        plain[name] = value
    return plain


def _threshold(name: str, number: str, thousands: str) -> str:
    # A comma or an underscore separates thousands.
    tokens = Decimal(re.sub("[,_]", "", number)) * _FACTORS[thousands]
    if tokens != int(tokens) or not 0 < tokens < TOKENS_LIMIT:
        raise _invalid(name, "has no valid number of tokens")
    in_thousands, rest = divmod(int(tokens), 1_000)
    return str(int(tokens)) if rest else f"{in_thousands}k"


def _invalid(name: str, fault: str) -> RefusedRowError:
    shown = printable(name[:NAME_LENGTH_MAX])
    return RefusedRowError(ReasonCode.INVALID_TIERS, f"{shown} {fault}")
