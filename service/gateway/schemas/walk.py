"""The subschemas of a JSON Schema, which other values only look like."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

PATH_CHARACTERS_MAX: Final = 200

# Keywords of all drafts, by what they hold: a schema, a list, or schemas by name.
OF_SCHEMA: Final = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
OF_LIST: Final = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
OF_NAMED: Final = frozenset(
    {
        "$defs",
        "definitions",
        "dependencies",
        "dependentSchemas",
        "patternProperties",
        "properties",
    }
)


def subschemas(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a schema and all below it that are objects, each with its path.

    Long paths are shortened: each of the many below a long name would have it again.
    """
    waiting = [(path, schema)]
    while waiting:
        path, node = waiting.pop()
        if not isinstance(node, dict):
            continue
        yield path, node
        for key, value in node.items():
            where = shortened(f"{path}.{key}")
            if key in OF_SCHEMA:
                waiting.append((where, value))
            if key in OF_LIST and isinstance(value, list):
                waiting += [(f"{where}[{n}]", each) for n, each in enumerate(value)]
            elif key in OF_NAMED and isinstance(value, dict):
                waiting += [
                    (shortened(f"{where}.{name}"), each) for name, each in value.items()
                ]


def mapped(schema: Any, change: Callable[[dict[str, Any]], Mapping[str, Any]]) -> Any:
    """Return a schema with each object changed, those below it first."""
    if not isinstance(schema, dict):
        return schema
    below: dict[str, Any] = {}
    for key, value in schema.items():
        if key in OF_LIST and isinstance(value, list):
            below[key] = [mapped(each, change) for each in value]
        elif key in OF_NAMED and isinstance(value, dict):
            below[key] = {name: mapped(each, change) for name, each in value.items()}
        elif key in OF_SCHEMA:
            below[key] = mapped(value, change)
        else:
            below[key] = value
    return change(below)


def shortened(path: str) -> str:
    kept = path[:PATH_CHARACTERS_MAX]
    return kept if kept == path else kept + "…"
