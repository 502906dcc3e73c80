"""The worst inputs of every operation that one caller could think of.

Each operation is asked for its example, for what costs any operation most, long
queries, headers and bodies, and for what its folder says is bad for it alone (``worst``
in ``tests/support/*/operations.py``). A world that is as large as its limits allow has
been made before.
"""

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlencode

from service.http.operation import Operation
from tests.support.operations.asks import LINE_BYTES, Ask, Wire, World, json_ask
from tests.support.operations.catalog import WORST
from tests.unit.http.test_json_cost import WORST as WORST_JSON

LONG_QUERIES: Final = {
    "many parameters": "&".join(f"a{n}={n}" for n in range(1000)),
    "one parameter many times": "&".join(["limit=1"] * 900),
    "a long parameter": "after=" + "a" * LINE_BYTES,
    "escapes": "after=" + "%C3%A9" * (LINE_BYTES // 6),
    "U+0000": "after=" + "%00" * (LINE_BYTES // 3),
    "digits": "limit=" + "9" * LINE_BYTES,
    "a time": "as_of=2026-01-01T00:00:00." + "0" * LINE_BYTES,
}


def asks_of(operation: Operation, world: World) -> Iterator[Ask]:
    """Yield everything that an operation is asked."""
    example = _example(operation, world)
    yield example
    for what, query in LONG_QUERIES.items():
        yield Ask(what=what, query=query, body=example.body, headers=example.headers)
    yield Ask(what="long headers", headers={f"X-{n}": "x" * 250 for n in range(30)})
    if operation.takes_body:
        for what, body in WORST_JSON.items():
            yield json_ask(what, body)
        yield Ask(what="noise", body=b"\xff" * 1_000_000, headers=example.headers)
    else:
        yield json_ask("a body of brackets", b"[" * 1_000_000)
    if operation.takes_body or operation.public:
        yield from _tiny_chunks(example)
    yield from WORST.get(operation.name, _nothing)(world)


def _tiny_chunks(example: Ask) -> Iterator[Ask]:
    """Yield a body in chunks of a byte: as many as are parsed, and six times that."""
    for count in (100_000, 1_000_000):
        for has_token in (True, False):
            yield Ask(
                what=f"{count:,} chunks, {'a' if has_token else 'no'} token",
                query=example.query,
                body=b"1\r\n \r\n" * count + b"0\r\n\r\n",
                headers=example.headers,
                wire=Wire(chunked=True, has_token=has_token),
            )


def _example(operation: Operation, world: World) -> Ask:
    example = world.examples.get(operation.name, {})
    body = example.get("body", operation.body_example)
    query = urlencode(example.get("query", {}))
    if body is None:
        return Ask(what="example", query=query)
    return json_ask("example", body, query)


def _nothing(_world: World) -> Iterator[Ask]:
    yield from ()
