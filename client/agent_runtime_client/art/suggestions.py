"""What may have been meant by a word that isn't known."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

# At most so many of the words that are known are named.
LISTED_MAX: Final = 12


def unknown(word: str, known: Iterable[str]) -> str:
    """Say that a word isn't known, and which are."""
    words = [*known]
    close = get_close_matches(word, words, n=3, cutoff=0.5)
    return f"{word!r} is not known; {did_you_mean(close) or _listed(words)}"


def did_you_mean(close: Iterable[str]) -> str:
    meant = " or ".join(close)
    return f"did you mean {meant}?" if meant else ""


def _listed(known: list[str]) -> str:
    more = ", ..." if len(known) > LISTED_MAX else ""
    return f"it takes {', '.join(known[:LISTED_MAX])}{more}"
