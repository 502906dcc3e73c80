"""Tool patterns: globs over whole tool names, with only ``*`` and ``?``."""

import fnmatch
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

ANY_RUN: Final = "*"
ANY_ONE: Final = "?"
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


@lru_cache(maxsize=COMPILED_KEPT_MAX)
def compiled(pattern: str) -> Callable[[str], re.Match[str] | None]:
    """Return what matches a glob with a whole name.

    The library's translation uses atomic groups: each ``*`` but the last takes as
    little as it can, and is never tried again with more.
    """
    # To the library, an opening bracket is special too, except in brackets.
    return re.compile(fnmatch.translate(pattern.replace("[", "[[]"))).match
