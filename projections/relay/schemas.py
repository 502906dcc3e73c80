"""JSON Schema of what each published event carries, from the event's own types."""

import types
from collections.abc import Mapping
from typing import Any, Final, Union, get_args, get_origin, get_type_hints, is_typeddict

from projections.relay.public_event import PublicEvent

Schema = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
# Where a message's schema is; `$id` has the same path.
SCHEMA_PATH: Final = "/schemas/events/{name}"

_UUID: Final[Schema] = {"type": "string", "format": "uuid"}
_TIME: Final[Schema] = {"type": "string", "format": "date-time"}
_DECIMAL: Final[Schema] = {
    "type": "string",
    "pattern": r"^[0-9]+(\.[0-9]+)?$",
    "description": "A decimal as text: exact.",
}
# What a text is, by the name of its field; other fields are any text.
_TEXTS: Final[Mapping[str, Schema]] = {
    "agent_id": _UUID,
    "by": _UUID,
    "manager_id": _UUID,
    "owner_id": _UUID,
    "provider_id": _UUID,
    "user_id": _UUID,
    "effective_from": _TIME,
    "effective_until": _TIME,
    "ended_at": _TIME,
    "since": _TIME,
    "started_at": _TIME,
    "cost": _DECIMAL,
    "input_price_per_1m": _DECIMAL,
    "output_price_per_1m": _DECIMAL,
    "cache_creation_price_per_1m": _DECIMAL,
    "cache_read_price_per_1m": _DECIMAL,
}
_SCALARS: Final[Mapping[Any, Schema]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    type(None): {"type": "null"},
}


def event_schema(entry: PublicEvent) -> Schema:
    """Describe the data of one type and version.

    Open to further fields: what is added later without a new version is optional.
    """
    return {
        "$schema": DIALECT,
        "$id": SCHEMA_PATH.format(name=entry.name),
        "title": entry.type,
        "description": entry.meaning,
        "type": "object",
        "required": list(entry.fields),
        "properties": {
            name: _schema_of(name, kind) for name, kind in entry.field_types.items()
        },
    }


def _schema_of(name: str, annotation: Any) -> Schema:
    if annotation is str:
        return dict(_TEXTS.get(name, {"type": "string"}))
    if annotation in _SCALARS:
        return dict(_SCALARS[annotation])
    if is_typeddict(annotation):
        hints = get_type_hints(annotation)
        return {
            "type": "object",
            "required": list(hints),
            "properties": {
                each: _schema_of(each, hint) for each, hint in hints.items()
            },
        }
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema_of(name, each) for each in arguments]}
    if origin is list:
        return {"type": "array", "items": _schema_of(name, arguments[0])}
    if origin is dict:
        values = _schema_of(name, arguments[1])
        return {"type": "object", "additionalProperties": values}
    raise TypeError(f"no schema for {name}: {annotation}")
