"""Finds changes of a schema that need a new version of its event."""

from collections.abc import Iterator
from typing import Any, Final

Schema = dict[str, Any]

# Programs don't depend on these keywords, so they may change.
_DOCUMENTATION: Final = frozenset(
    {"description", "title", "examples", "$schema", "$id"}
)


def breaking_changes(before: Schema, after: Schema, path: str = "data") -> list[str]:
    """Return every change between two schemas except an added optional field.

    The topic holds messages of both, and consumers of both read them.
    """
    return list(_changes(before, after, path))


def _changes(before: Schema, after: Schema, path: str) -> Iterator[str]:
    fields, later = before.get("properties", {}), after.get("properties", {})
    yield from (f"{path}.{name} was removed" for name in fields.keys() - later.keys())
    required = set(after.get("required", ()))
    for name in sorted(required ^ set(before.get("required", ()))):
        if name in fields and name not in later:
            continue
        change = "is now required" if name in required else "is no longer required"
        yield f"{path}.{name} {change}"
    for name in sorted(fields.keys() & later.keys()):
        yield from _changes(fields[name], later[name], f"{path}.{name}")
    yield from _others(before, after, path)


def _others(before: Schema, after: Schema, path: str) -> Iterator[str]:
    known = _DOCUMENTATION | {"properties", "required"}
    for keyword in sorted((before.keys() | after.keys()) - known):
        old, new = before.get(keyword), after.get(keyword)
        if keyword in ("items", "additionalProperties") and old and new:
            yield from _changes(old, new, f"{path}[]")
        elif keyword == "anyOf" and old and new and len(old) == len(new):
            for left, right in zip(old, new, strict=True):
                yield from _changes(left, right, path)
        elif old != new:
            yield f"{path}: {keyword} was {old} and is {new}"
