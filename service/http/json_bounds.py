"""Bounds of JSON documents, checked before they are parsed."""

import re
from collections.abc import Sequence
from typing import Final

from service.errors import MalformedRequestError

JSON_DEPTH_MAX = 32
# A batch of 1,000 rules has 4,000 values, and 12,000 quotes.
JSON_VALUES_MAX = 5_000
JSON_QUOTES_MAX = 50_000
_VALUE_STARTS: Final = (b",", b"[", b"{")
_PARTS: Final = (*_VALUE_STARTS, b'"')
# Other threads wait while a piece is searched.
_PIECE_BYTES: Final = 64 * 1024


def bounded(body: bytes, values_max: int = JSON_VALUES_MAX) -> bytes:
    """Bound what parsing, and finding every fault, takes of the event loop.

    Strings may have any length: they cost little. Counts quotes first, since each
    string that is left out costs something as well. Returns the body without strings.
    """
    if body.count(b'"') <= JSON_QUOTES_MAX:
        outside = without_strings(body)
        values = _count(_VALUE_STARTS, outside, 0, len(outside), values_max)
        if values <= values_max:
            return outside
        refuse_deep(outside[:values_max])
    raise MalformedRequestError(
        f"the body has more than {values_max} values, or {JSON_QUOTES_MAX} quotes",
        code="json_too_large",
    )


def without_strings(body: bytes) -> bytes:
    return JSON_STRING.sub(b"", body)


def refuse_deep(outside: bytes) -> None:
    """Reject too deep nesting; ``outside`` is a body without its strings."""
    depth = 0
    for bracket in _BRACKETS.findall(outside):
        depth += 1 if bracket in b"[{" else -1
        if depth > JSON_DEPTH_MAX:
            raise MalformedRequestError(
                f"the body is nested deeper than {JSON_DEPTH_MAX} levels",
                code="json_too_deep",
            )


def has_more_parts(document: bytes, parts_max: int) -> bool:
    """Say whether a document has more separators, brackets and strings than allowed.

    For large documents in threads: it stops when there are too many, and lets other
    threads run in between. A string is one part, whatever it contains.
    """
    if _count(_PARTS, document, 0, len(document), parts_max) <= parts_max:
        return False
    parts = position = 0
    while position < len(document) and parts <= parts_max:
        quote = document.find(b'"', position)
        end = len(document) if quote < 0 else quote
        parts += _count(_VALUE_STARTS, document, position, end, parts_max - parts)
        parts += quote >= 0
        position = _after_string(document, end + 1)
    return parts > parts_max


def _count(
    which: Sequence[bytes], document: bytes, start: int, end: int, count_max: int
) -> int:
    """Count some bytes between two positions, up to about ``count_max``."""
    count = 0
    for piece in range(start, end, _PIECE_BYTES):
        stop = min(piece + _PIECE_BYTES, end)
        for each in which:
            count += document.count(each, piece, stop)
        if count > count_max:
            break
    return count


def _after_string(document: bytes, position: int) -> int:
    """Return the position after the string that has begun before ``position``."""
    while position < len(document):
        found = _IN_STRING.match(document, position, position + _PIECE_BYTES)
        assert found is not None
        position = found.end()
        following = document[position : position + 1]
        if following == b'"':
            return position + 1
        if following == b"\\" and found.end() == found.start():
            # It ends within an escape.
            return len(document)
    return position


# Possessive, and to the end where the closing quote is missing: linear in any document.
JSON_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_IN_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_BRACKETS = re.compile(rb"[\[\]{}]")
