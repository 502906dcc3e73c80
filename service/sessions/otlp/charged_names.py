"""Names of counts that a price may depend on, whoever writes them."""

import re
from typing import Final

from service.sessions.otlp.instrumentation import (
    AUDIO,
    OUTPUT,
    READS,
    SEARCHES,
    WRITES,
)

CHARGED: Final = ("cach", "reasoning", "thought", "thinking", "audio", "search")
_CHARGED: Final = re.compile("|".join(CHARGED))
COUNT: Final = re.compile(r"token|usage|count|requests|queries")
WRITTEN: Final = re.compile(r"writ|creat")
# Limits, settings and amounts of money are no counts of what was used; nor has what
# wasn't cached a price of its own.
NO_COUNT: Final = re.compile(
    r"(?:no|non|un|not)[._-]?cach|max|limit|budget|cost|price|percent|_per_|[._]ttl"
    r"|rat(?:e|io)$|request\.|parameters|settings|estimate"
)
# What a whole call used.
WHOLE: Final = re.compile(
    r"(?:input|prompt|output|completion|total)[._]?tokens?|tokens?[._]?usage"
    r"|usage[._]?details|(?:input|prompt|output|completion)[._]token[._]count"
)


def is_charged(name: str) -> bool:
    """Return whether a count of that name may have a price of its own."""
    name = name.lower()
    return (
        _CHARGED.search(name) is not None
        and COUNT.search(name) is not None
        and NO_COUNT.search(name) is None
    )


def is_whole(name: str) -> bool:
    """Return whether a count of that name is the input, the output or both."""
    name = name.lower()
    return WHOLE.search(name) is not None and NO_COUNT.search(name) is None


def unit_of(name: str) -> str:
    """Return what such a count is of, by the names of ``ModelCallUsage``.

    Of reasoning it is the output, which it may be a part of.
    """
    name = name.lower()
    if "cach" in name:
        return WRITES if WRITTEN.search(name) else READS
    if "audio" in name:
        return AUDIO
    return SEARCHES if "search" in name else OUTPUT
