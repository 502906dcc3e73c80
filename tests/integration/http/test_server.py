"""What is refused before it is a request of the application, on both event loops."""

import asyncio
import contextlib
import resource
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest
from aiohttp import web

from service.http.overload import REFUSED, ConnectionLimit, connections_max
from service.http.server import Runner
from service.tasks import end_tasks
from tests.integration.http.raw import TIMEOUT_S, all_answered
from tests.integration.http.test_failures import log_lines
from tests.support.metrics import counted
from tests.support.waiting import until

HIDDEN = b"art_hidden"
TOO_LONG = b"x" * 9000
REQUEST = b"GET /absent HTTP/1.1\r\nHost: a\r\n\r\n"
KEEPALIVE_S = 0.5


@pytest.fixture
async def runner(request: pytest.FixtureRequest) -> AsyncIterator[Runner]:
    runner = Runner(
        web.Application(),
        limit=ConnectionLimit(),
        access_log=None,
        keepalive_timeout=getattr(request, "param", KEEPALIVE_S),
    )
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield runner
    await runner.cleanup()


@pytest.fixture
def port(runner: Runner) -> int:
    port: int = runner.addresses[0][1]
    return port


async def sent(port: int, request: bytes) -> tuple[bytes, bytes]:
    """Return head and body of the answer, after which the connection is closed."""
    head, _, body = (await all_answered(port, request)).partition(b"\r\n\r\n")
    return head, body


@pytest.mark.parametrize(
    "request_bytes",
    [
        HIDDEN + b" / HTTP/2\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: " + HIDDEN + b"\0\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX-A: " + HIDDEN + TOO_LONG + b"\r\n\r\n",
        b"GET /" + HIDDEN + TOO_LONG + b" HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X-A: 1\r\n" * 200 + b"\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00" + HIDDEN + b"\r\n\r\n",
    ],
)
async def test_a_malformed_request_is_refused_in_an_envelope_that_does_not_quote_it(
    port: int, request_bytes: bytes
) -> None:
    with log_lines() as written:
        head, body = await sent(port, request_bytes)

    answer = orjson.loads(body)
    assert head.splitlines()[0].endswith(b" 400 Bad Request")
    assert answer.keys() == {"data", "message", "status_code"}
    assert answer["status_code"] == 400
    assert (answer["data"]["code"], answer["data"]["errors"]) == ("http_error", [])
    assert f"X-Request-Id: {answer['data']['request_id']}".encode() in head
    assert b"Server: agent-runtime\r\n" in head
    assert b"aiohttp" not in head
    assert HIDDEN not in body
    assert HIDDEN.decode() not in written.getvalue()
    assert '"level":"error"' not in written.getvalue()


async def test_an_unknown_method_is_named(port: int) -> None:
    with log_lines() as written:
        head, body = await sent(
            port, b"HIDE /" + HIDDEN + b" HTTP/1.1\r\nHost: a\r\n\r\n"
        )

    answer = orjson.loads(body)
    assert head.splitlines()[0].endswith(b" 501 Not Implemented")
    assert answer["status_code"] == 501
    assert answer["data"]["code"] == "unknown_method"
    assert b"\r\nConnection: close\r\n" in head or head.startswith(b"HTTP/1.0")
    assert HIDDEN not in body
    assert HIDDEN.decode() not in written.getvalue()


@pytest.mark.parametrize(
    "begun", [b"", b"GET / HTTP/1.1\r\n", REQUEST + b"GET / HTTP/1.1\r\n"]
)
async def test_a_client_that_never_ends_its_head_is_disconnected(
    port: int, begun: bytes
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)

    async def go_on_slowly() -> None:
        while True:
            writer.write(b"X" if begun else b"")
            await asyncio.sleep(KEEPALIVE_S / 5)

    writer.write(begun)
    dripping = asyncio.create_task(go_on_slowly())
    async with asyncio.timeout(TIMEOUT_S):
        with contextlib.suppress(ConnectionError):
            await reader.read()
    await end_tasks(dripping)
    writer.close()


# Its silent connections stay open, however slow the machine is.
@pytest.mark.parametrize("runner", [TIMEOUT_S], indirect=True)
async def test_a_connection_too_many_is_told_so_and_the_others_go_on(
    runner: Runner, port: int
) -> None:
    runner.limit.connections_max = 2
    refused = counted(REFUSED)
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
    server: Any = runner.server
    await until(lambda: len(server.connections) == 2)

    head, body = await sent(port, REQUEST)
    reader, writer = opened[0]
    writer.write(REQUEST)
    answered = await reader.readuntil(b"\r\n")
    writer.close()
    await writer.wait_closed()
    await until(lambda: len(server.connections) == 1)
    again, _ = await sent(port, REQUEST.replace(b"Host", b"Connection: close\r\nHost"))

    assert head.startswith(b"HTTP/1.1 503 ")
    assert b"Retry-After: 1" in head
    assert orjson.loads(body)["data"]["code"] == "overloaded"
    assert b" 404 " in answered
    assert b" 404 " in again.splitlines()[0]
    assert counted(REFUSED) == refused + 1
    opened[1][1].close()


async def test_a_silent_connection_above_the_limit_is_closed(
    runner: Runner, port: int
) -> None:
    runner.limit.connections_max = 0

    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(40)]

    async with asyncio.timeout(TIMEOUT_S):
        for reader, _ in opened:
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
    for _, writer in opened:
        writer.close()


@pytest.mark.parametrize(
    ("files", "connections"), [(64, 1), (1024, 896), (2**20, 10_000)]
)
def test_connections_leave_files_for_the_rest(
    monkeypatch: pytest.MonkeyPatch, files: int, connections: int
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))

    assert connections_max() == connections
