"""What is refused before it is a request of the application."""

import asyncio
from collections.abc import AsyncIterator

import orjson
import pytest
from aiohttp import web

from service.http.server import Runner
from tests.http.raw import TIMEOUT_S
from tests.http.test_failures import log_lines

HIDDEN = b"art_hidden"
TOO_LONG = b"x" * 9000


@pytest.fixture
async def port() -> AsyncIterator[int]:
    runner = Runner(web.Application(), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield runner.addresses[0][1]
    await runner.cleanup()


async def sent(port: int, request: bytes) -> tuple[bytes, bytes]:
    """Return head and body of the answer, after which the connection is closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    try:
        async with asyncio.timeout(TIMEOUT_S):
            head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    finally:
        writer.close()
        await writer.wait_closed()
    return head, body


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"HIDE " + HIDDEN + b" HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: " + HIDDEN + b"\0\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX-A: " + HIDDEN + TOO_LONG + b"\r\n\r\n",
        b"GET /" + HIDDEN + TOO_LONG + b" HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00" + HIDDEN + b"\r\n\r\n",
    ],
)
async def test_what_is_no_request_is_refused_in_an_envelope_and_not_quoted(
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
