"""What an event changed, in words for whoever reviews it: a function for each type."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from projections.audit.trail.words import access, prices, sessions

Named = Callable[[str], str]
"""Writes an id together with the name that it stands for, where that is known."""

WORDS: Final[Mapping[str, Callable[[Any, Named], str]]] = {
    **access.WORDS,
    **prices.WORDS,
    **sessions.WORDS,
}
UNREADABLE: Final = "something that this version of the service can't read"
WORDS_CHARACTERS_MAX: Final = 2000


def words_for(topic: str, event: Any, named: Named = str) -> str:
    """Say what an event changed; pure, and of bounded length."""
    words = WORDS[topic](event, named)
    if len(words) > WORDS_CHARACTERS_MAX:
        return words[:WORDS_CHARACTERS_MAX] + " …"
    return words
