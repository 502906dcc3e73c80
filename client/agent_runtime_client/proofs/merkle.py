"""The Merkle tree of RFC 6962, section 2.1: hashes, roots and the checks of proofs."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final, Self

EMPTY_ROOT: Final = hashlib.sha256(b"").digest()


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


class InvalidProofError(ValueError):
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
    if not 0 <= index < size or last or hash_ != root:
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
    if (0 < first == second and not path and first_root == second_root) or (
        0 < first < second
        and _consistent_roots(first, second, path, first_root)
        == (first_root, second_root)
    ):
        return
    raise InvalidProofError(
        f"the tree of size {first} isn't the beginning of that of size {second}"
    )


def _consistent_roots(
    first: int, second: int, path: Sequence[bytes], first_root: bytes
) -> tuple[bytes, bytes] | None:
    """Return both roots that a proof leads to; None if it has a wrong length."""
    # A tree that is full is a node of the other one, and not part of the proof.
    whole = [first_root, *path] if first & (first - 1) == 0 else list(path)
    if not whole:
        return None
    number, last = first - 1, second - 1
    while number & 1:
        number, last = number >> 1, last >> 1
    before = after = whole[0]
    for each in whole[1:]:
        if number & 1 or number == last:
            before, after = node_hash(each, before), node_hash(each, after)
            while not number & 1 and number:
                number, last = number >> 1, last >> 1
        else:
            after = node_hash(after, each)
        number, last = number >> 1, last >> 1
    return None if last else (before, after)
