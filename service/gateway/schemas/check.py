"""Check a tool's schemas: against JSON Schema 2020-12, and for strict clients.

2020-12 is MCP's default dialect, and providers of models refuse a whole request for one
schema that isn't valid in it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

from service.gateway.schemas.walk import shortened, subschemas

INVALID: Final = "isn't valid JSON Schema 2020-12"
UNRESOLVED: Final = "refers to a schema that the definition doesn't have"
PATTERN_CHARACTERS_MAX: Final = 1_000
INDEX_DIGITS_MAX: Final = 6

# What regular expressions of ECMAScript and of other dialects have in common: with the
# flag "u", as strict clients compile them, a needless escape is an error.
_COMMON: Final = re.compile(
    r"(?:[^\\{}()\[\]]"
    r"|\\(?:[dDsSwWbBfnrtv^$.*+?()\[\]{}|/\\]|u[0-9A-Fa-f]{4})"
    r"|\{[0-9]{1,4}(?:,[0-9]{0,4})?\}"
    r"|\[(?:[^\\\[\]]|\\(?:[dDsSwWfnrtv^$.*+?()\[\]{}|/\\-]|u[0-9A-Fa-f]{4}))+\]"
    r"|\((?!\?)|\(\?(?:[:=!]|<[=!])|\))*"
)
# In ECMAScript an error; Python calls it possessive.
_TWO_QUANTIFIERS: Final = re.compile(r"(?<!\\)[*+?}][*+]")


def problem_of(schema: Mapping[str, Any], member: str) -> str | None:
    """Return why a provider of models would refuse a schema, and where; else None.

    Whatever dialect it names: that could be anywhere, and isn't loaded.
    """
    # A large library, for those who observe tools alone.
    import jsonschema_rs

    of_2020 = {key: value for key, value in schema.items() if key != "$schema"}
    try:
        jsonschema_rs.meta.validate(of_2020)
    except jsonschema_rs.ValidationError as error:
        path = "".join(
            f"[{key}]" if isinstance(key, int) else f".{key}"
            for key in error.instance_path
        )
        return f"{shortened(member + path)} {INVALID}"
    path = next(_unresolved(schema, member), "")
    return f"{shortened(path)} {UNRESOLVED}" if path else None


def is_compiled_by_all(schema: Mapping[str, Any]) -> bool:
    """Whether strict clients, too, make a validator of a valid schema.

    One that they can't make, or mix up with another's of the same ``$id``, can cost
    them the whole list of tools.
    """
    anchors: set[str] = set()
    for path, node in subschemas(schema):
        anchor = node.get("$anchor")
        if isinstance(anchor, str):
            if anchor in anchors:
                return False
            anchors.add(anchor)
        if (
            (path and "$id" in node)
            or "$async" in node
            or node.get("enum") == []
            or ("nullable" in node and "type" not in node)
            or not all(map(_is_common, _patterns(node)))
        ):
            return False
    return True


def _unresolved(schema: Mapping[str, Any], member: str) -> Iterator[str]:
    """Yield the paths of references to what the schema doesn't have."""
    nodes = [*subschemas(schema, member)]
    anchors = {
        node[key]
        for _, node in nodes
        for key in ("$anchor", "$dynamicAnchor")
        if isinstance(node.get(key), str)
    }
    for path, node in nodes:
        for key in ("$ref", "$dynamicRef"):
            reference = node.get(key)
            if isinstance(reference, str) and not _resolves(reference, schema, anchors):
                yield f"{path}.{key}"


def _resolves(reference: str, schema: Any, anchors: set[str]) -> bool:
    base, _, fragment = reference.partition("#")
    if base not in ("", schema.get("$id")):
        return False
    if not fragment.startswith("/"):
        return not fragment or fragment in anchors
    found = schema
    for escaped in unquote(fragment)[1:].split("/"):
        key = escaped.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif (
            isinstance(found, list)
            and key.isdecimal()
            and len(key) <= INDEX_DIGITS_MAX
            and int(key) < len(found)
        ):
            found = found[int(key)]
        else:
            return False
    return isinstance(found, dict | bool)


def _patterns(node: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(node.get("pattern"), str):
        yield node["pattern"]
    if isinstance(node.get("patternProperties"), dict):
        yield from node["patternProperties"]


def _is_common(pattern: str) -> bool:
    if (
        len(pattern) > PATTERN_CHARACTERS_MAX
        or not _COMMON.fullmatch(pattern)
        or _TWO_QUANTIFIERS.search(pattern)
    ):
        return False
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True
