"""Find what a span tells of its usage by names that nobody reads: it is never lost."""

from collections.abc import Iterable
from typing import Final

from service.sessions.otlp.answers import Answer
from service.sessions.otlp.attributes import Attributes, first_count, first_text
from service.sessions.otlp.charged_names import CHARGED, is_charged, is_whole, unit_of
from service.sessions.otlp.counts import Counts
from service.sessions.otlp.instrumentation import OUTPUT, Instrumentation

# Of a document, characters in which there may be a count.
DOCUMENT_LOOKED_AT: Final = 1_000


def unread_counts(
    found: Attributes, row: Instrumentation, answer: Answer, counts: Counts
) -> list[str]:
    """Return what isn't certain, as a count of it isn't read.

    A count that repeats one that is read makes nothing uncertain.
    """
    unread = [
        (key, first_count(found, key))
        for key in _unread(found, row, *CHARGED)
        if is_charged(key)
    ]
    unread += answer.unread
    if not unread:
        return []
    known = counts.all()
    names = {unit_of(name) for name, count in unread if count and count not in known}
    # Whether reasoning is a part of the output, the total tells.
    if counts.is_settled:
        names.discard(OUTPUT)
    return sorted(names)


def tells_usage(found: Attributes, row: Instrumentation) -> bool:
    """Return whether a span tells what a model call used, by names nobody reads."""
    return any(
        is_whole(key) and _is_usage(found, key)
        for key in _unread(found, row, "token", "usage")
    )


def _unread(found: Attributes, row: Instrumentation, *words: str) -> Iterable[str]:
    """Return the keys that nobody reads, if a word is in any of them: seldom one is."""
    keys = found.keys() - row.counted
    text = "\n".join(keys).lower()
    return keys if any(word in text for word in words) else ()


def _is_usage(found: Attributes, key: str) -> bool:
    if first_count(found, key):
        return True
    # A document of counts, as some keep it in one attribute.
    text = first_text(found, key) or ""
    return text.startswith("{") and any(map(str.isdigit, text[:DOCUMENT_LOOKED_AT]))
