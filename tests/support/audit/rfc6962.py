"""Merkle trees a second time, written from the RFCs alone; slow, and plain.

Hashes and proofs by the definitions of RFC 6962, section 2.1; checking proofs by the
algorithms of RFC 9162, sections 2.1.3.2 and 2.1.4.2.
"""

import hashlib
from collections.abc import Sequence


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def leaf(data: bytes) -> bytes:
    return sha256(b"\0" + data)


def mth(leaves: Sequence[bytes]) -> bytes:
    """MTH over leaf hashes: d(0) in the RFC is hashed already."""
    if not leaves:
        return sha256(b"")
    if len(leaves) == 1:
        return leaves[0]
    k = largest_power_below(len(leaves))
    return sha256(b"\1" + mth(leaves[:k]) + mth(leaves[k:]))


def path(m: int, leaves: Sequence[bytes]) -> list[bytes]:
    if len(leaves) == 1:
        return []
    k = largest_power_below(len(leaves))
    if m < k:
        return [*path(m, leaves[:k]), mth(leaves[k:])]
    return [*path(m - k, leaves[k:]), mth(leaves[:k])]


def proof(m: int, leaves: Sequence[bytes]) -> list[bytes]:
    return subproof(m, leaves, complete=True)


def subproof(m: int, leaves: Sequence[bytes], *, complete: bool) -> list[bytes]:
    if m == len(leaves):
        return [] if complete else [mth(leaves)]
    k = largest_power_below(len(leaves))
    if m <= k:
        return [*subproof(m, leaves[:k], complete=complete), mth(leaves[k:])]
    return [*subproof(m - k, leaves[k:], complete=False), mth(leaves[:k])]


def largest_power_below(n: int) -> int:
    k = 1
    while k * 2 < n:
        k *= 2
    return k


def includes(
    leaf_hash: bytes, index: int, size: int, hashes: Sequence[bytes], root: bytes
) -> bool:
    if index >= size:
        return False
    fn, sn, r = index, size - 1, leaf_hash
    for p in hashes:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            r = sha256(b"\1" + p + r)
            if not fn & 1:
                while fn and not fn & 1:
                    fn >>= 1
                    sn >>= 1
        else:
            r = sha256(b"\1" + r + p)
        fn >>= 1
        sn >>= 1
    return sn == 0 and r == root


def is_consistent(
    first: int,
    second: int,
    first_root: bytes,
    second_root: bytes,
    hashes: Sequence[bytes],
) -> bool:
    if first == second:
        return not hashes and first_root == second_root
    if not hashes:
        return False
    consistency = list(hashes)
    if first & (first - 1) == 0:
        consistency.insert(0, first_root)
    fn, sn = first - 1, second - 1
    while fn & 1:
        fn >>= 1
        sn >>= 1
    fr = sr = consistency[0]
    for c in consistency[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            fr = sha256(b"\1" + c + fr)
            sr = sha256(b"\1" + c + sr)
            if not fn & 1:
                while fn and not fn & 1:
                    fn >>= 1
                    sn >>= 1
        else:
            sr = sha256(b"\1" + sr + c)
        fn >>= 1
        sn >>= 1
    return fr == first_root and sr == second_root and sn == 0
