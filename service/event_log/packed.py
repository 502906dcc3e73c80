"""Arrays in PostgreSQL's binary format.

A batch has a dozen of them with up to thousands of items. The driver would look at
each item to find out what it is; here that is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct, pack
from uuid import UUID

from psycopg import adapt, pq

_HEADER = Struct("!iiiii")
_LOWER_BOUND = 1
_SIZE = Struct("!i")


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
    return _numbers(23, 4, "ii", items)


def bigints(items: Sequence[int]) -> Packed:
    return _numbers(20, 8, "iq", items)


def uuids(items: Sequence[UUID]) -> Packed:
    octets = [item.int.to_bytes(16, "big") for item in items]
    # Every item, and thus not the header, comes after its size.
    return Packed(_SIZE.pack(16).join([_header(2950, len(items)), *octets]))


def texts(items: Sequence[str]) -> Packed:
    return _varying(25, [item.encode() for item in items])


def byteas(items: Sequence[bytes]) -> Packed:
    return _varying(17, items)


def _numbers(oid: int, size: int, form: str, items: Sequence[int]) -> Packed:
    count = len(items)
    sizes_and_items = [size] * (2 * count)
    sizes_and_items[1::2] = items
    octets = pack("!" + form * count, *sizes_and_items)
    return Packed(_header(oid, count) + octets)


def _varying(oid: int, items: Sequence[bytes]) -> Packed:
    parts = [_header(oid, len(items))]
    for item in items:
        parts.append(_SIZE.pack(len(item)))
        parts.append(item)
    return Packed(b"".join(parts))


def _header(oid: int, count: int) -> bytes:
    return _HEADER.pack(1, 0, oid, count, _LOWER_BOUND)
