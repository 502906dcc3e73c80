"""Arrays in PostgreSQL's binary format.

A batch has a dozen of them with up to thousands of items. The driver would look at
each item to find out what it is; here that is known.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from struct import Struct
from uuid import UUID

from psycopg import adapt, pq

_HEADER = Struct("!iiiii")
_LOWER_BOUND = 1
_INT = Struct("!i")
_BIGINT = Struct("!q")


@dataclass(frozen=True, slots=True)
class Packed:
    """An array that the server reads as the type to which the statement casts it."""

    octets: bytes


class PackedDumper(adapt.Dumper):
    format = pq.Format.BINARY
    oid = 0

    def dump(self, obj: Packed) -> bytes:
        return obj.octets


def ints(items: Sequence[int]) -> Packed:
    return _fixed(23, 4, map(_INT.pack, items), len(items))


def bigints(items: Sequence[int]) -> Packed:
    return _fixed(20, 8, map(_BIGINT.pack, items), len(items))


def uuids(items: Sequence[UUID]) -> Packed:
    return _fixed(2950, 16, [item.bytes for item in items], len(items))


def texts(items: Sequence[str]) -> Packed:
    return _varying(25, [item.encode() for item in items])


def byteas(items: Sequence[bytes]) -> Packed:
    return _varying(17, items)


def _fixed(oid: int, size: int, items: Iterable[bytes], count: int) -> Packed:
    # Every item, and thus not the header, comes after its size.
    return Packed(_INT.pack(size).join([_header(oid, count), *items]))


def _varying(oid: int, items: Sequence[bytes]) -> Packed:
    parts = [_header(oid, len(items))]
    for item in items:
        parts.append(_INT.pack(len(item)))
        parts.append(item)
    return Packed(b"".join(parts))


def _header(oid: int, count: int) -> bytes:
    return _HEADER.pack(1, 0, oid, count, _LOWER_BOUND)
