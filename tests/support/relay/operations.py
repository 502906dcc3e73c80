"""How the walks over all operations call those of the documents about events."""

from collections.abc import Iterator

from tests.support.operations.asks import LINE_BYTES, Ask, World
from tests.support.operations.declaration import WalkedOperations


def _schema(_world: World) -> Iterator[Ask]:
    yield Ask(what="a long name", path={"name": "x" * LINE_BYTES})


OPERATIONS = WalkedOperations(
    not_asked={"get_asyncapi": "public", "get_event_schema": "public"},
    worst={"get_event_schema": _schema},
    simple=frozenset(["get_asyncapi"]),
)
