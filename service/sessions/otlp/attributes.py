"""Read attributes of spans and resources as text, as counts or as amounts."""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import orjson
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from service.price_catalog.reported import reported_amount
from service.sessions.turn import TOKENS_MAX

DEPTH_MAX = 16
ID_KINDS = ("string_value", "int_value")
DIGITS = re.compile(r"[0-9]{1,13}")

Attributes = Mapping[str, AnyValue]


def attributes(pairs: Iterable[KeyValue]) -> Attributes:
    """Return attributes by key; of duplicate keys the last one counts."""
    return {pair.key: pair.value for pair in pairs}


def first_text(found: Attributes, *keys: str) -> str | None:
    """Return the first of some attributes with a value, as text.

    Values that aren't text are rendered as JSON.
    """
    for key in keys:
        if key in found:
            text = _text(found[key])
            if text:
                return text
    return None


def begins_with(found: Attributes, key: str, begins: tuple[str, ...]) -> bool:
    """Return whether an attribute is missing, or begins with one of some texts."""
    text = first_text(found, key)
    return text is None or text.startswith(begins)


def first_id(found: Attributes, *keys: str) -> str | None:
    """Return the first of some attributes that names something: text or an integer."""
    for key in keys:
        value = found.get(key)
        if value is not None and value.WhichOneof("value") in ID_KINDS:
            text = str(plain(value)).strip()
            if text:
                return text
    return None


def first_count(found: Attributes, *keys: str) -> int | None:
    """Return the first of some attributes that is a valid token count.

    One that isn't 0 comes first: some write 0 under a name for what they don't know.
    """
    first = None
    for key in keys:
        if key in found:
            count = _count(found[key])
            if count:
                return count
            if count is not None:
                first = count
    return first


def first_amount(found: Attributes, *keys: str) -> Decimal | None:
    """Return the first of some attributes that is a valid amount of money."""
    for key in keys:
        if key in found:
            valid = reported_amount(plain(found[key]))
            if valid is not None:
                return valid
    return None


def plain(value: AnyValue, depth: int = 0) -> Any:
    """Return a value as JSON types; bytes and values nested too deep are None."""
    kind = value.WhichOneof("value")
    if kind == "array_value" and depth < DEPTH_MAX:
        return [plain(item, depth + 1) for item in value.array_value.values]
    if kind == "kvlist_value" and depth < DEPTH_MAX:
        pairs = value.kvlist_value.values
        return {pair.key: plain(pair.value, depth + 1) for pair in pairs}
    if kind in ("string_value", "bool_value", "int_value", "double_value"):
        return getattr(value, kind)
    return None


def _text(value: AnyValue) -> str | None:
    if value.WhichOneof("value") == "string_value":
        return value.string_value
    found = plain(value)
    return None if found is None else orjson.dumps(found).decode()


def _count(value: AnyValue) -> int | None:
    kind = value.WhichOneof("value")
    if kind == "int_value":
        count = value.int_value
    elif kind == "string_value" and DIGITS.fullmatch(value.string_value) is not None:
        count = int(value.string_value)
    elif kind == "double_value" and value.double_value.is_integer():
        count = int(value.double_value)
    else:
        return None
    return count if 0 <= count <= TOKENS_MAX else None
