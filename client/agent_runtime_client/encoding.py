"""Encode Python values as the API takes them, and decode answers."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

from agent_runtime_client.model import Model
from agent_runtime_client.not_given import NOT_GIVEN
from agent_runtime_client.secret import Secret

T = TypeVar("T")


def body_of(fields: Mapping[str, Any]) -> bytes:
    """Render a JSON body of the fields that are given.

    :raises ValueError: a time has no zone, or a text isn't valid Unicode
    """
    text = json.dumps(plain(fields), ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        pass
    # Not from within, as the error holds the text, which may be a secret.
    raise ValueError("a text has half of a surrogate pair, which can't be sent")


def parse_json(text: bytes) -> Any:
    """Parse JSON without rounding: a number with a fraction becomes a Decimal.

    :raises ValueError: it isn't JSON
    """
    return json.loads(text, parse_float=Decimal)


def plain(value: Any) -> Any:
    """Return a value as JSON writers know it; decimals as text, with every digit.

    :raises ValueError: a time has no zone
    :raises TypeError: the API has no such type
    """
    match value:
        case None | str() | bool() | int() | float():
            return value
        case UUID() | Decimal() | date() | Secret():
            return query_text(value)
        case Mapping():
            return {
                name: plain(each)
                for name, each in value.items()
                if each is not NOT_GIVEN
            }
        case Model():
            return plain(Model.fields(value))
        case Sequence() | set() | frozenset():
            return [plain(each) for each in value]
    raise TypeError(f"the API has no form of {type(value).__name__}")


def query_text(value: Any) -> str:
    """Return a parameter of a path or query as text.

    :raises ValueError: a time has no zone
    """
    match value:
        case bool():
            return "true" if value else "false"
        case datetime() if value.tzinfo is None:
            raise ValueError("a time needs a zone, such as datetime.UTC")
        case date():
            return value.isoformat()
        case Decimal():
            return format(value, "f")
        case Secret():
            return value.reveal()
        case list() | tuple() | set() | frozenset():
            return ",".join(map(query_text, value))
    return str(value)


def list_of(convert: Callable[[Any], T]) -> Callable[[Any], list[T]]:
    """Return a converter of lists."""
    return lambda values: [convert(value) for value in values]


def dict_of(convert: Callable[[Any], T]) -> Callable[[Any], dict[str, T]]:
    """Return a converter of objects whose keys are data."""
    return lambda values: {name: convert(value) for name, value in values.items()}


def optional(convert: Callable[[Any], T]) -> Callable[[Any], T | None]:
    """Return a converter that keeps None."""
    return lambda value: None if value is None else convert(value)


def decimal(value: int | Decimal) -> Decimal:
    return Decimal(value)
