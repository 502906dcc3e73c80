"""Compare two definitions of a tool, by JSON path."""

from collections.abc import Iterator
from typing import Any, Final

from typing_extensions import TypedDict

from service.gateway.definition import canonical_json

DIFFERENCES_MAX: Final = 200
# Stands for a member or an element that isn't there; no value of JSON equals it.
_MISSING: Final = object()


class Difference(TypedDict):
    """A value that differs; null is also one that is missing."""

    path: str
    before: Any
    after: Any


def differences(before: Any, after: Any) -> list[Difference]:
    """Return the first differences, in the order of the paths."""
    found: list[Difference] = []
    for each in _differing("", before, after):
        found.append(each)
        if len(found) == DIFFERENCES_MAX:
            break
    return found


def _differing(path: str, before: Any, after: Any) -> Iterator[Difference]:
    if _json(before) == _json(after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            yield from _differing(
                f"{path}.{key}", before.get(key, _MISSING), after.get(key, _MISSING)
            )
    elif isinstance(before, list) and isinstance(after, list):
        for index in range(max(len(before), len(after))):
            yield from _differing(
                f"{path}[{index}]", _at(before, index), _at(after, index)
            )
    else:
        yield {
            "path": path.removeprefix("."),
            "before": None if before is _MISSING else before,
            "after": None if after is _MISSING else after,
        }


def _json(value: Any) -> bytes:
    """Return the JSON that digests are made of.

    There 1 and true aren't the same, which Python holds equal, however deep.
    """
    return b"" if value is _MISSING else canonical_json(value)


def _at(values: list[Any], index: int) -> Any:
    return values[index] if index < len(values) else _MISSING
