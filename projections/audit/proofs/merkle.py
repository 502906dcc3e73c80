"""What proofs of the Merkle tree consist of, by RFC 6962, section 2.1.

A node (level, number) stands over the leaves from ``number << level`` to
``((number + 1) << level) - 1``. Only full ones are stored; they never change.
"""

from collections.abc import Iterator
from typing import NamedTuple


class Node(NamedTuple):
    level: int
    number: int


class Leaves(NamedTuple):
    """The leaves ``start <= index < end``; a subtree of every tree that has them."""

    start: int
    end: int


def full_subtrees(leaves: Leaves) -> Iterator[Node]:
    """Split some leaves into full subtrees, largest first.

    ``start`` is a multiple of the largest power of two that fits between both.
    """
    start, end = leaves
    while start < end:
        level = (end - start).bit_length() - 1
        yield Node(level, start >> level)
        start += 1 << level


def inclusion_path(index: int, size: int) -> list[Leaves]:
    """Return the subtrees whose hashes make an inclusion proof (2.1.1)."""
    start, end = 0, size
    path = []
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            path.append(Leaves(middle, end))
            end = middle
        else:
            path.append(Leaves(start, middle))
            start = middle
    return path[::-1]


def consistency_path(first: int, second: int) -> list[Leaves]:
    """Return the subtrees whose hashes make a consistency proof (2.1.2).

    ``1 <= first <= second``.
    """
    start, end = 0, second
    path = []
    while end != first:
        middle = start + _split(end - start)
        if first <= middle:
            path.append(Leaves(middle, end))
            end = middle
        else:
            path.append(Leaves(start, middle))
            start = middle
    if start:
        path.append(Leaves(start, end))
    return path[::-1]


def _split(count: int) -> int:
    """Return the largest power of two that is less than a count of at least 2."""
    return 1 << ((count - 1).bit_length() - 1)
