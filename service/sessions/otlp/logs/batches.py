"""Events, or what is known of them, divided for statements of bounded size."""

from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

# What a statement is sent, and what it answers, is encoded on the event loop.
EVENTS_AT_ONCE: Final = 1_000

T = TypeVar("T")


def batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield items in their order, some at a time."""
    for start in range(0, len(items), EVENTS_AT_ONCE):
        yield items[start : start + EVENTS_AT_ONCE]
