"""Lists that know the type of their items, as arguments of ``events.append``.

In a plain list the driver looks for it, and for integers takes the smallest type that
fits: with other numbers, the server would prepare another statement.
"""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from psycopg import adapters
from psycopg.adapt import AdaptersMap
from psycopg.types.array import ListBinaryDumper


class Ints(list[int]):
    """Of 32 bits."""


class Bigints(list[int]):
    """Of 64 bits."""


class Uuids(list[UUID]):
    pass


class Texts(list[str]):
    pass


class Byteas(list[bytes]):
    pass


_ITEMS: Final[Mapping[type, str]] = {
    Ints: "int4",
    Bigints: "int8",
    Uuids: "uuid",
    Texts: "text",
    Byteas: "bytea",
}


def register_arrays(registry: AdaptersMap) -> None:
    """Let a connection take them as parameters."""
    for kind, name in _ITEMS.items():
        item = adapters.types[name]
        oids = {"oid": item.array_oid, "element_oid": item.oid}
        registry.register_dumper(kind, type(f"{name}[]", (ListBinaryDumper,), oids))
