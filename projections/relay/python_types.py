"""Generates Python types of the published events from their schemas."""

import keyword
import textwrap
from collections.abc import Mapping
from typing import Any, Final

Schema = dict[str, Any]

HEADER: Final = '''\
"""What each published event carries. Made by ``make generated``; do not edit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

'''
WORDS_MAX: Final = 78
_PLAIN: Final = {
    "string": "str",
    "integer": "int",
    "boolean": "bool",
    "null": "None",
}


def event_types_module(schemas: Mapping[str, Schema]) -> str:
    """Return the module's source: one class for each type and version."""
    classes = "\n\n".join(_class(name, schema) for name, schema in schemas.items())
    known = "".join(f'    "{name}": {class_name(name)},\n' for name in schemas)
    return (
        f"{HEADER}\n{classes}\n\n"
        f"EVENT_TYPES: Final[Mapping[str, type[Any]]] = {{\n{known}}}\n"
    )


def class_name(name: str) -> str:
    """Return, for ``connector.made_public.v1``, ``ConnectorMadePublicV1``."""
    words = name.replace(".", "_").split("_")
    return "".join(word.capitalize() for word in words)


def _class(name: str, schema: Schema) -> str:
    required = set(schema["required"])
    # Fields with a default come last.
    fields = sorted(schema["properties"], key=lambda field: field not in required)
    lines = [
        f"    {field}: {_annotation(schema['properties'][field])}"
        + ("" if field in required else " | None = None")
        for field in fields
    ]
    if any(keyword.iskeyword(field) for field in fields):
        raise ValueError(f"{name} has a field whose name is a Python keyword")
    body = "\n".join(lines)
    return (
        "@dataclass(frozen=True, slots=True, kw_only=True)\n"
        f"class {class_name(name)}:\n{_docstring(schema['description'])}\n"
        + (f"\n{body}\n" if body else "")
    )


def _docstring(words: str) -> str:
    if len(words) <= WORDS_MAX:
        return f'    """{words}"""'
    first, _, rest = words.partition(". ")
    if not rest or len(first) > WORDS_MAX:
        raise ValueError(f"longer than a line, without a short sentence first: {words}")
    wrapped = textwrap.wrap(rest, WORDS_MAX)
    return "\n    ".join([f'    """{first}.\n', *wrapped, '"""'])


def _annotation(schema: Schema) -> str:
    if "anyOf" in schema:
        return " | ".join(_annotation(each) for each in schema["anyOf"])
    kind = schema["type"]
    if kind == "array":
        return f"Sequence[{_annotation(schema['items'])}]"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"Mapping[str, {_annotation(values) if values else 'Any'}]"
    return _PLAIN[kind]
