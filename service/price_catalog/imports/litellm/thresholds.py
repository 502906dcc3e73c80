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

# above_200k_tokens, above_200K_tokens, over_200_000_tokens, above_0,2M_tokens.
_WRITTEN: Final = re.compile(
    r"_(?:above_|over_)?([0-9]{1,20}(?:[.,_][0-9]{1,20}){0,6}|[.,][0-9]{1,20})"
    r"_?([km]?)_?tokens?(?![a-z])",
    re.IGNORECASE,
)
_SEPARATOR: Final = re.compile("[.,_]")
_THOUSAND: Final = 3
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
        if value is None and name in plain:
            continue
        if plain.get(name) is not None and plain[name] != value:
            raise _invalid(written, "is written in two ways, with different prices")
        plain[name] = value
    return plain


def _threshold(name: str, number: str, thousands: str) -> str:
    tokens = _number(name, number, is_short=bool(thousands)) * _FACTORS[thousands]
    if tokens != int(tokens) or not 0 < tokens < TOKENS_LIMIT:
        raise _invalid(name, "has no valid number of tokens")
    in_thousands, rest = divmod(int(tokens), 1_000)
    return str(int(tokens)) if rest else f"{in_thousands}k"


def _number(name: str, number: str, *, is_short: bool) -> Decimal:
    """Return a number: 200_000 and 1.000.000 in thousands, 0,2M and 1.5k in parts."""
    whole, *groups = _SEPARATOR.split(number)
    are_thousands = all(len(group) == _THOUSAND for group in groups)
    if (groups and not are_thousands) or (is_short and groups):
        if len(groups) > 1 or "_" in number:
            raise _invalid(name, "has no valid number of tokens")
        return Decimal(f"{whole}.{groups[0]}")
    return Decimal(whole + "".join(groups))


def _invalid(name: str, fault: str) -> RefusedRowError:
    shown = printable(name[:NAME_LENGTH_MAX])
    return RefusedRowError(ReasonCode.INVALID_TIERS, f"{shown} {fault}")
