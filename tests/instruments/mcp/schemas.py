"""JSON schemas that the suite wants a server to have, or to send to clients."""

from typing import Any, Final


def _any_of(*names: str) -> list[dict[str, str]]:
    return [{"const": name, "title": name.title()} for name in names]


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


_STRING: Final = {"type": "string"}
_SIZES: Final = ["small", "large"]

# Every keyword of JSON Schema 2020-12 that must survive (SEP-1613, SEP-2106).
ALL_KEYWORDS: Final = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {
        "address": {"$anchor": "addressDef", **_object(street=_STRING, city=_STRING)}
    },
    **_object(
        name=_STRING,
        address={"$ref": "#/$defs/address"},
        contactMethod={"type": "string", "enum": ["phone", "email"]},
        phone=_STRING,
        email=_STRING,
    ),
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {
        "properties": {"contactMethod": {"const": "phone"}},
        "required": ["contactMethod"],
    },
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

# A default of each primitive type (SEP-1034).
DEFAULTS: Final = _object(
    name={"type": "string", "default": "John Doe"},
    age={"type": "integer", "default": 30},
    score={"type": "number", "default": 95.5},
    status={
        "type": "string",
        "enum": ["active", "inactive", "pending"],
        "default": "active",
    },
    verified={"type": "boolean", "default": True},
)

# The five ways to write a choice (SEP-1330).
ENUMS: Final = _object(
    untitledSingle={"type": "string", "enum": _SIZES},
    titledSingle={"type": "string", "oneOf": _any_of(*_SIZES)},
    legacyEnum={"type": "string", "enum": _SIZES, "enumNames": ["Small", "Large"]},
    untitledMulti={"type": "array", "items": {"type": "string", "enum": _SIZES}},
    titledMulti={"type": "array", "items": {"anyOf": _any_of(*_SIZES)}},
)
