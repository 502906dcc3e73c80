"""Tool patterns: globs over whole tool names, with only ``*`` and ``?``."""

import fnmatch
import re
import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import Final

ANY_RUN: Final = "*"
ANY_ONE: Final = "?"
# Of a longer one, what tells patterns apart is mostly at its end.
LITERAL_CHARACTERS_MAX: Final = 48
# The largest takes some 8 kB, an ordinary one less than 1 kB.
COMPILED_KEPT_MAX: Final = 4096


def has_wildcard(pattern: str) -> bool:
    return ANY_RUN in pattern or ANY_ONE in pattern


def matches(pattern: str, name: str) -> bool:
    """Whether a glob matches a whole name; case-sensitive.

    Takes time in proportion to the product of both lengths at most.
    """
    if has_wildcard(pattern):
        return compiled(pattern)(name) is not None
    return pattern == name


def has_parts_of(pattern: str, name: str) -> bool:
    """Whether a name has each part of a pattern that is without wildcards.

    One that matches does; and most that don't lack one, which costs less to see than
    to compile the pattern.
    """
    return all(part in name for part in _WILDCARDS.split(pattern))


@lru_cache(maxsize=COMPILED_KEPT_MAX)
def compiled(pattern: str) -> Callable[[str], re.Match[str] | None]:
    """Return what matches a glob with a whole name.

    The library's translation uses atomic groups: each ``*`` but the last takes as
    little as it can, and is never tried again with more.
    """
    # To the library, an opening bracket is special too, except in brackets.
    return re.compile(fnmatch.translate(pattern.replace("[", "[[]"))).match


def search_key(pattern: str) -> int:
    """Return a number by which an index finds the patterns that a name can match.

    It stands for the pattern's longest part without wildcards, or its end: whatever a
    pattern matches contains that. Patterns with the same number need not match the
    same names.
    """
    longest = max(_WILDCARDS.split(pattern), key=len)
    return _key(longest[-LITERAL_CHARACTERS_MAX:])


def search_keys(name: str) -> set[int]:
    """Return the search keys of all patterns that match a name, and of some others."""
    return {_key("")} | {
        _key(name[first:end])
        for end in range(1, len(name) + 1)
        for first in range(max(0, end - LITERAL_CHARACTERS_MAX), end)
    }


def _key(literal: str) -> int:
    return zlib.crc32(literal.encode("utf-8", "surrogatepass"))


_WILDCARDS = re.compile(r"[*?]+")
