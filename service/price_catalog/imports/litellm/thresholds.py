"""Thresholds in the names of LiteLLM's fields, however their number is written."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from service.price_catalog.imports.exact_prices import RefusedRowError
from service.price_catalog.imports.litellm.notes import SERVICES, TOKENS_LIMIT
from service.price_catalog.imports.litellm.structure import UNIT_OF_FIELD
from service.price_catalog.imports.price_list import ReasonCode
from service.price_catalog.imports.price_notes import printable
from service.price_catalog.periods import NAME_LENGTH_MAX

_NUMBER: Final = r"([0-9]{1,20}(?:[.,_][0-9]{1,20}){0,6}|[.,][0-9]{1,20})"
_ABOVE: Final = "(?:above|over|gt|greater_than|more_than|beyond|exceeding)"
# above_200k_tokens, over_200_000_tokens, above_0,2M_tokens, gt_200k_input_tokens.
_WRITTEN: Final = re.compile(
    rf"_(?:{_ABOVE}_)?{_NUMBER}_?(thousand|million|[km]?)"
    r"_?(?:(?:input|prompt)_)?tokens?(?![a-z])",
    re.IGNORECASE,
)
# Without the word: above_200k, perhaps of a service.
_SHORT: Final = re.compile(
    rf"_{_ABOVE}_{_NUMBER}_?(thousand|million|[km])(?=(?:_(?:{SERVICES}))?\Z)",
    re.IGNORECASE,
)
_SEPARATOR: Final = re.compile("[.,_]")
_THOUSAND: Final = 3
_FACTORS: Final = {
    "": 1,
    "k": 1_000,
    "thousand": 1_000,
    "m": 1_000_000,
    "million": 1_000_000,
}
_FIELD: Final = re.compile(
    rf"({'|'.join(sorted(UNIT_OF_FIELD, key=len, reverse=True))})(.+)",
    re.IGNORECASE | re.ASCII | re.DOTALL,
)
_BATCH: Final = re.compile(r"_batch(?:_requests)?\Z")
# What may follow the name of a field, and what must not unless it is this.
_READ: Final = re.compile(
    r"(?P<hours>_above_\d{1,3}hr)?(?:_above_\d{1,12}k?_tokens)?"
    rf"(?:_(?:{SERVICES}))?"
)
_CONDITION: Final = re.compile(rf"\d|batch|{SERVICES}", re.IGNORECASE)
# Other prices have numbers of pixels and seconds in their names.
_BY_TOKEN: Final = re.compile("token|character", re.IGNORECASE)


def with_plain_thresholds(entry: Mapping[str, object]) -> dict[str, object]:
    """Return an entry whose fields write thresholds as above_200k_tokens.

    Or as above_200500_tokens, if they are no thousands.

    :raises RefusedRowError: a threshold is no number of tokens, or is written in two
        ways, with different prices; or a price has a condition that can't be read
    """
    plain: dict[str, object] = {}
    for written, value in entry.items():
        name = _plain(written) if "cost" in written.lower() else written
        if value is not None and not _is_read(name):
            raise _invalid(written, "has a condition that can't be read")
        if value is None and name in plain:
            continue
        if plain.get(name) is not None and plain[name] != value:
            raise _invalid(written, "is written in two ways, with different prices")
        plain[name] = value
    return plain


def _plain(written: str) -> str:
    found = _WRITTEN.search(written)
    is_known = _FIELD.fullmatch(written) is not None
    if found is None and is_known and _BY_TOKEN.search(written):
        found = _SHORT.search(written)
    name = written
    if found is not None:
        threshold = _threshold(written, found[1], found[2].lower())
        before, after = written[: found.start()], written[found.end() :]
        name = f"{before}_above_{threshold}_tokens{after}"
    return _BATCH.sub("_batches", name) if is_known else name


def _is_read(name: str) -> bool:
    """Return whether all of a price's name is understood, or it is no such price."""
    found = _FIELD.fullmatch(name)
    if found is None or not _BY_TOKEN.search(name):
        return True
    field, rest = found.groups()
    if not _CONDITION.search(rest):
        return True
    known = _READ.fullmatch(rest) if field in UNIT_OF_FIELD else None
    return known is not None and (
        known["hours"] is None or field.startswith("cache_creation")
    )


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
