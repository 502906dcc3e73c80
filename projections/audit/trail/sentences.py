"""Sentences for audit reviewers that say what an event changed."""

from typing import Any, Final

from service.events import Named

UNREADABLE: Final = "something that this version of the service can't read"
SENTENCE_CHARACTERS_MAX: Final = 2000


def sentence_of(event: Any, named: Named = str) -> str:
    """Return the event's own sentence, cut at a bound."""
    sentence: str = event.sentence(named)
    if len(sentence) > SENTENCE_CHARACTERS_MAX:
        return sentence[:SENTENCE_CHARACTERS_MAX] + " …"
    return sentence
