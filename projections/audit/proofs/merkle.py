"""The Merkle tree of RFC 6962, section 2.1: hashes, roots, and what proofs consist of.

A node (level, number) stands over the leaves from ``number << level`` to
``((number + 1) << level) - 1``. Only full ones are stored; they never change.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Self

EMPTY_ROOT = hashlib.sha256(b"").digest()


class Node(NamedTuple):
    level: int
    number: int


class Leaves(NamedTuple):
    """The leaves ``start <= index < end``; a subtree of every tree that has them."""

    start: int
    end: int


def leaf_hash(data: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


class GrowingTree:
    """The full subtrees of a tree, largest first: all that adding leaves needs.

    There are as many as the size has bits that are set.
    """

    def __init__(self, size: int = 0, subtrees: Iterable[bytes] = ()) -> None:
        self.size = size
        self._subtrees = list(subtrees)

    def copy(self) -> Self:
        return type(self)(self.size, self._subtrees)

    def append(self, leaf: bytes) -> None:
        full = leaf
        size = self.size
        while size & 1:
            full = node_hash(self._subtrees.pop(), full)
            size >>= 1
        self._subtrees.append(full)
        self.size += 1

    def root(self) -> bytes:
        return folded(self._subtrees)


def folded(subtrees: Sequence[bytes]) -> bytes:
    """Return the hash over some neighbouring full subtrees, largest first."""
    if not subtrees:
        return EMPTY_ROOT
    *larger, root = subtrees
    for subtree in reversed(larger):
        root = node_hash(subtree, root)
    return root


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


class InvalidProofError(Exception):
    """A proof doesn't lead from what it is of to the root."""


def require_inclusion(
    leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes
) -> None:
    """Verify an inclusion proof, as in RFC 9162, section 2.1.3.2.

    :raises InvalidProofError: the tree of that root doesn't hold the leaf there
    """
    number, last, hash_ = index, size - 1, leaf
    for each in path:
        if number & 1 or number == last:
            hash_ = node_hash(each, hash_)
            while not number & 1 and number:
                number, last = number >> 1, last >> 1
        else:
            hash_ = node_hash(hash_, each)
        number, last = number >> 1, last >> 1
    if last or hash_ != root:
        raise InvalidProofError(f"leaf {index} isn't in the tree of size {size}")


def require_consistency(
    first: int,
    second: int,
    path: Sequence[bytes],
    first_root: bytes,
    second_root: bytes,
) -> None:
    """Verify a consistency proof, as in RFC 9162, section 2.1.4.2.

    :raises InvalidProofError: the first tree isn't the beginning of the second
    """
    if first == second and not path and first_root == second_root:
        return
    whole = [first_root, *path] if first & (first - 1) == 0 else list(path)
    number, last = first - 1, second - 1
    while number & 1:
        number, last = number >> 1, last >> 1
    before = after = whole[0] if whole else b""
    for each in whole[1:]:
        if number & 1 or number == last:
            before, after = node_hash(each, before), node_hash(each, after)
            while not number & 1 and number:
                number, last = number >> 1, last >> 1
        else:
            after = node_hash(after, each)
        number, last = number >> 1, last >> 1
    if last or (before, after) != (first_root, second_root):
        raise InvalidProofError(
            f"the tree of size {first} isn't the beginning of that of size {second}"
        )
