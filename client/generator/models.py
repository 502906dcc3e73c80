"""Writes ``models.py`` of the client."""

import re
from collections.abc import Collection, Iterator, Mapping
from keyword import iskeyword
from typing import Any, Final

from client.generator.text import docstring, indented
from client.generator.types import Types

Json = dict[str, Any]

HEAD: Final = '''\
"""The objects of the API. Made by ``make generated``; do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from agent_runtime_client.encoding import decimal, dict_of, list_of, optional
from agent_runtime_client.model import Model
from agent_runtime_client.not_given import NOT_GIVEN, NotGiven
from agent_runtime_client.secret import Secret
'''
# Names that a model has already.
RESERVED: Final = {"decode", "response", "fields", "CONVERTERS"}


def models_module(types: Types, used: Collection[str]) -> str:
    """Return the module with the schemas that are used, and those within them."""
    wanted = _with_parts(types, used)
    parts = [HEAD]
    written: set[str] = set()
    for schema_name, schema in _in_order(types, wanted):
        name = types.names[schema_name]
        if name in written:
            continue
        written.add(name)
        if "properties" in schema:
            is_request = schema.get("additionalProperties") is False
            parts.append(_class(types, name, schema, is_request=is_request))
        else:
            parts.append(f"{name} = {types.of(schema).annotation}\n")
    exported = sorted(written)
    parts.append(f"__all__ = {exported!r}\n")
    return "\n\n".join(parts)


def _class(types: Types, name: str, schema: Json, *, is_request: bool) -> str:
    lines = [f"class {name}(Model):"]
    if text := schema.get("description"):
        lines += [indented(docstring(text)), ""]
    required = schema.get("required", [])
    converters = []
    for field, described in schema["properties"].items():
        if field in RESERVED or iskeyword(field) or not field.isidentifier():
            continue
        found = types.of(described)
        if field in required:
            lines.append(f"    {field}: {found.answered}")
        elif is_request:
            lines.append(f"    {field}: {found.parameter} | NotGiven = NOT_GIVEN")
        else:
            lines.append(f"    {field}: {found.answered} | NotGiven = NOT_GIVEN")
        if found.converter:
            # Late: it may be of a class further down.
            late = re.search(r"\.decode", found.converter)
            converter = f"lambda value: {found.converter}(value)"
            converters.append((field, converter if late else found.converter))
    if converters:
        lines += ["", "    CONVERTERS = {"]
        lines += [f'        "{field}": {converter},' for field, converter in converters]
        lines += ["    }"]
    if len(lines) == 1:
        lines.append("    pass")
    return "\n".join(lines) + "\n"


def _with_parts(types: Types, used: Collection[str]) -> set[str]:
    wanted: set[str] = set()
    waiting = list(used)
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += references(types.schemas[name])
    return wanted


def references(schema: object) -> Iterator[str]:
    """Return the names of the schemas that a schema refers to."""
    if isinstance(schema, Mapping):
        for key, value in schema.items():
            if key == "$ref" and isinstance(value, str):
                yield value.rsplit("/", 1)[-1]
            else:
                yield from references(value)
    elif isinstance(schema, list):
        for each in schema:
            yield from references(each)


def _in_order(types: Types, wanted: set[str]) -> Iterator[tuple[str, Json]]:
    """Return aliases first, since they are evaluated, then classes by name."""
    yield from sorted(
        ((name, types.schemas[name]) for name in wanted),
        key=lambda each: ("properties" in each[1], each[0]),
    )
