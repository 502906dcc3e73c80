"""Merkle trees and their proofs, as in RFC 6962 and RFC 9162, section 2.1."""

import hashlib
from collections.abc import Sequence


def leaf_hash(data: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


class GrowingTree:
    """A tree that leaves are added to; keeps only its full subtrees."""

    def __init__(self) -> None:
        self.size = 0
        self._subtrees: list[bytes] = []

    def append(self, leaf: bytes) -> None:
        size = self.size
        while size & 1:
            leaf = node_hash(self._subtrees.pop(), leaf)
            size >>= 1
        self._subtrees.append(leaf)
        self.size += 1

    def root(self) -> bytes:
        if not self._subtrees:
            return hashlib.sha256(b"").digest()
        *larger, root = self._subtrees
        for subtree in reversed(larger):
            root = node_hash(subtree, root)
        return root


def root_by_inclusion(
    leaf: bytes, *, index: int, size: int, path: Sequence[bytes]
) -> bytes | None:
    """Return the root that an inclusion proof leads to; None if it has a wrong length.

    RFC 9162, section 2.1.3.2.
    """
    if not 0 <= index < size:
        return None
    number, last, root = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return None
        if number & 1 or number == last:
            root = node_hash(sibling, root)
            while not number & 1 and number:
                number >>= 1
                last >>= 1
        else:
            root = node_hash(root, sibling)
        number >>= 1
        last >>= 1
    return root if last == 0 else None


def roots_by_consistency(
    first_root: bytes, *, first: int, second: int, path: Sequence[bytes]
) -> tuple[bytes, bytes] | None:
    """Return both roots that a consistency proof leads to; None if it is malformed.

    RFC 9162, section 2.1.4.2.
    """
    if not 0 < first <= second:
        return None
    if first == second:
        return None if path else (first_root, first_root)
    # A tree that is full is a node of the other one, and not part of the proof.
    nodes = [first_root, *path] if first & (first - 1) == 0 else list(path)
    if not nodes:
        return None
    number, last = first - 1, second - 1
    while number & 1:
        number >>= 1
        last >>= 1
    first_found = second_found = nodes[0]
    for node in nodes[1:]:
        if last == 0:
            return None
        if number & 1 or number == last:
            first_found = node_hash(node, first_found)
            second_found = node_hash(node, second_found)
            while not number & 1 and number:
                number >>= 1
                last >>= 1
        else:
            second_found = node_hash(second_found, node)
        number >>= 1
        last >>= 1
    return (first_found, second_found) if last == 0 else None
