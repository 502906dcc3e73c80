"""JSON Schema of what each published event carries, from the event's own types."""

from collections.abc import Mapping
from typing import Any, Final

import orjson
from typing_extensions import TypedDict

from projections.relay.public_event import PublicEvent
from service.http.openapi.schemas import Schema, Schemas

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
# The path of a schema in the HTTP API, and its `$id`.
SCHEMA_PATH: Final = "/schemas/events/{name}"
_READABLE: Final = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


def event_schemas(public: Mapping[str, PublicEvent]) -> dict[str, dict[str, Any]]:
    """Return the schema of each event type in its current version, by name."""
    return {entry.name: event_schema(entry) for entry in public.values()}


def readable(document: dict[str, Any]) -> bytes:
    return orjson.dumps(document, option=_READABLE)


def event_schema(entry: PublicEvent) -> Schema:
    """Describe the data of one event type and version.

    The schema allows further fields: optional ones may be added within a version.
    """
    schemas = Schemas()
    data = schemas.of_answer(TypedDict("Data", entry.field_types))  # type: ignore[operator]
    described = _inlined(data, schemas.named)
    return {
        "$schema": DIALECT,
        "$id": SCHEMA_PATH.format(name=entry.name),
        "title": entry.type,
        "description": entry.details,
        "type": "object",
        "required": described.get("required", []),
        "properties": described["properties"],
    }


def _inlined(value: Any, named: dict[str, Schema]) -> Any:
    """Replace references: each event's schema is one self-contained document."""
    if isinstance(value, list):
        return [_inlined(each, named) for each in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        value = named[value["$ref"].rpartition("/")[2]]
    return {key: _inlined(each, named) for key, each in value.items()}
