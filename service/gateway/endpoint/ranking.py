"""Rank texts by the words of a query: plain, deterministic, and bounded.

A word counts for more where fewer texts have it, and in a name for more than in a
description. Cheap enough without an inverted index, which would take more memory than
the texts.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import Final
from unicodedata import normalize

# Of a query; each is looked for in every text.
WORDS_MAX: Final = 16
CHARACTERS_MAX: Final = 2_000
# A shorter one begins too many words.
BEGINNING_MIN: Final = 3
PLURAL_MIN: Final = 4
WORDS_KEPT_MAX: Final = 10_000


@dataclass(frozen=True, slots=True)
class Described:
    """What is searched, by how much its words count."""

    name: str
    properties: str
    description: str


class Ranking:
    """Texts, ranked by queries."""

    def __init__(self, texts: Iterable[Described]) -> None:
        self._texts = [
            tuple(
                f" {' '.join(_words(field[:CHARACTERS_MAX]))} "
                for field in (each.name, each.properties, each.description)
            )
            for each in texts
        ]

    def ranked(self, query: str) -> list[int]:
        """Return the places of the texts that match, the best first.

        Of equally good ones, those with the fewest words in their names come first.
        """
        scores: dict[int, float] = {}
        for word in _asked(query):
            found = dict(self._matches(word))
            rarity = log(1 + len(self._texts) / len(found)) if found else 0.0
            for place, weight in found.items():
                scores[place] = scores.get(place, 0.0) + rarity * weight

        def rank(place: int) -> tuple[float, int, int]:
            name, *_ = self._texts[place]
            return -scores[place], name.count(" "), place

        return sorted(scores, key=rank)

    def _matches(self, word: str) -> Iterator[tuple[int, float]]:
        beginning = f" {word}" if len(word) >= BEGINNING_MIN else f" {word} "
        whole = f" {word} "
        for place, fields in enumerate(self._texts):
            for text, weight in zip(fields, _WEIGHTS, strict=True):
                if beginning in text:
                    yield place, weight if whole in text else weight / 2
                    break


def _asked(query: str) -> Sequence[str]:
    words = [*dict.fromkeys(_words(query))]
    return ([each for each in words if each not in _COMMON] or words)[:WORDS_MAX]


def _words(text: str) -> Iterator[str]:
    """Yield the words of a text, and the parts of those written in camel case."""
    for match in _WORD.finditer(normalize("NFKC", text)):
        word = match[0]
        yield _stem(word.casefold())
        if not word.islower() and len(parts := _CAMEL.split(word)) > 1:
            yield from (_stem(each.casefold()) for each in parts)


@lru_cache(WORDS_KEPT_MAX)
def _stem(word: str) -> str:
    """Return what the forms of an English word have in common, roughly."""
    if len(word) >= PLURAL_MIN and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    return _FINAL_Y.sub("i", _ENDING.sub("", word))


_WEIGHTS: Final = (6.0, 2.0, 1.0)
# Chinese and Japanese have no spaces between words: each character counts as one.
_WORD: Final = re.compile(
    r"[\u3040-\u309f\u3400-\u9fff]|[^\W_\u3040-\u309f\u3400-\u9fff]+"
)
_ENDING: Final = re.compile(r"(?<=\w{4})(?:ing|ed|e)$|(?<=x)e$")
_FINAL_Y: Final = re.compile(r"(?<=\w\w[^aeiou])y$")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# What people and models say around what they mean.
_COMMON: Final = frozenset(
    _words(
        "a an and are by can do for from how i in is it me my of on or that the this "
        "to tool use want what with you"
    )
)
