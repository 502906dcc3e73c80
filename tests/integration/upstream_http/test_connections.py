"""The HTTP client of servers, against bytes that a server could send."""

import asyncio
from collections.abc import Sequence

import pytest
import uvloop

from service.upstream_http import connection as http_connection
from service.upstream_http import response as http_response
from service.upstream_http.addresses import AddressPolicy
from service.upstream_http.connection import HEAD_BYTES_MAX
from service.upstream_http.connections import open_connections
from service.upstream_http.errors import (
    ConnectCause,
    ConnectError,
    ConnectionEndedError,
)
from service.upstream_http.response import (
    UNREAD_BYTES_MAX,
    HeadTooLargeError,
    NotHttpError,
)
from tests.integration.upstream_http.raw_server import answering
from tests.support.waiting import TIMEOUT_S, until

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
HELLO = OK + b"Content-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"


async def test_a_request_and_its_answer() -> None:
    async with answering(HELLO) as raw:
        response = await raw.post(Accept="text/plain")

        assert (response.status, response.content_type) == (200, "text/plain")
        assert await response.read() == b"hello"
        assert await response.read() == b""
    head, _, body = raw.requests[0].partition(b"\r\n\r\n")
    host = raw.url.split("/")[2]
    assert head.decode().split("\r\n") == [
        "POST /mcp?a=b HTTP/1.1",
        f"Host: {host}",
        "User-Agent: agent-runtime",
        "Accept-Encoding: identity",
        "Accept: text/plain",
        "Content-Length: 2",
    ]
    assert body == b"{}"


@pytest.mark.parametrize(
    "answers",
    [
        [
            OK
            + b"Transfer-Encoding: chunked\r\n\r\n2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"
        ],
        [b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + HELLO],
        [OK + b"\r\nhello", None],
        [b"HTTP/1.0 200 OK\r\n\r\nhello", None],
    ],
)
async def test_bodies(answers: Sequence[bytes | None]) -> None:
    async with answering(*answers) as raw:
        assert await raw.body() == b"hello"


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        OK + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
    ],
)
async def test_answers_that_are_not_http(answer: bytes) -> None:
    async with answering(answer) as raw:
        with pytest.raises(NotHttpError):
            await raw.post()


def fields(size: int, count: int = 1) -> bytes:
    """Return so many lines of a head, of so many bytes together."""
    line = size // count
    lines = [b"X: " + b"x" * (line - 5) + b"\r\n"] * (count - 1)
    rest = size - line * (count - 1)
    return b"".join([*lines, b"X: " + b"x" * (rest - 5) + b"\r\n"])


@pytest.mark.parametrize("count", [1, 3, 1000])
async def test_a_head_is_bounded(count: int) -> None:
    length = b"Content-Length: 0\r\n"
    room = HEAD_BYTES_MAX - len(OK) - len(length) - 2
    head = OK + length
    async with answering(
        head + fields(room, count) + b"\r\n", head + fields(room + 1, count) + b"\r\n"
    ) as raw:
        assert (await raw.post()).status == 200
        with pytest.raises(HeadTooLargeError):
            await raw.post()


async def test_heads_before_an_answer_are_bounded_with_its_own() -> None:
    hint = b"HTTP/1.1 103 Early Hints\r\n" + fields(2048) + b"\r\n"
    async with answering(hint * 40 + HELLO) as raw:
        with pytest.raises(HeadTooLargeError):
            await raw.post()


@pytest.mark.parametrize("count", [1, 3])
async def test_trailers_are_bounded(count: int) -> None:
    body = OK + CHUNKED + b"5\r\nhello\r\n0\r\n"
    room = HEAD_BYTES_MAX - 2
    async with answering(
        body + fields(room // 2, count) + b"\r\n",
        body + fields(room + 1024, count) + b"\r\n",
        body + fields(32 * HEAD_BYTES_MAX, count),
    ) as raw:
        assert await raw.body() == b"hello"
        for _ in range(2):
            with pytest.raises(HeadTooLargeError):
                await raw.body()


async def test_an_answer_that_is_cut() -> None:
    async with answering(HELLO[:-1]) as raw:
        raw.answers.append(None)
        with pytest.raises(ConnectionError):
            await raw.body()


async def test_no_connection_is_used_again_that_answered_too_much() -> None:
    async with answering(HELLO + HELLO, HELLO) as raw:
        assert await raw.body() == b"hello"
        assert await raw.body() == b"hello"

    assert raw.opened == 2


async def test_no_connection_is_used_again_that_will_be_closed() -> None:
    closing = HELLO.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    async with answering(closing, HELLO) as raw:
        assert await raw.body() == b"hello"
        assert await raw.body() == b"hello"

    assert raw.opened == 2


async def test_idle_connections_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connection, "KEEPALIVE_S", 0.05)
    async with answering(HELLO) as raw:
        assert await raw.body() == b"hello"

        await until(lambda: not raw.connections.opened)


async def test_a_reservation_is_given_back_by_its_holder_alone() -> None:
    """A call may end when another has taken the connection that it was sent on."""
    async with answering(HELLO) as raw:
        connection = await raw.connections.connect(raw.url)
        earlier = connection.reservation
        response = await raw.connections.send(connection, raw.url, {}, b"{}")
        while await response.read():
            pass
        assert raw.connections.kept(raw.url) is connection

        connection.release(earlier)

        assert raw.connections.kept(raw.url) is None
        connection.release(connection.reservation)
        assert raw.connections.kept(raw.url) is connection


async def test_receiving_stops_while_the_caller_does_not_read() -> None:
    size = 64 * UNREAD_BYTES_MAX
    answer = OK + b"Content-Length: %d\r\n\r\n" % size + b"x" * size
    async with answering(answer) as raw:
        response = await raw.post()
        await asyncio.sleep(0.2)

        first = await response.read()
        received = len(first)
        while piece := await response.read():
            received += len(piece)

    assert len(first) < size / 2
    assert received == size


@pytest.fixture
def paused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Receiving is paused by any piece of a body, also by the last."""
    monkeypatch.setattr(http_response, "UNREAD_BYTES_MAX", 0)


@pytest.mark.usefixtures("paused_at_once")
async def test_a_connection_paused_by_an_answer_s_end_is_used_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_connection, "KEEPALIVE_S", TIMEOUT_S)
    async with answering(HELLO, HELLO) as raw:
        assert await raw.body() == b"hello"
        async with asyncio.timeout(TIMEOUT_S):
            assert await raw.body() == b"hello"

    assert raw.opened == 1


@pytest.mark.usefixtures("paused_at_once")
async def test_a_connection_paused_by_an_answer_s_end_is_closed_when_idle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_connection, "KEEPALIVE_S", 0.05)
    async with answering(HELLO) as raw:
        assert await raw.body() == b"hello"

        await until(lambda: not raw.connections.opened)


def test_large_answers_leave_connections_usable_in_the_service_s_event_loop() -> None:
    size = 4 * UNREAD_BYTES_MAX
    large = OK + b"Content-Length: %d\r\n\r\n" % size + b"x" * size

    async def ask_repeatedly() -> None:
        for _ in range(10):
            async with answering(large, HELLO) as raw, asyncio.timeout(TIMEOUT_S):
                assert len(await raw.body()) == size
                assert await raw.body() == b"hello"

    uvloop.run(ask_repeatedly())


@pytest.mark.parametrize("value", ["a\r\nX: b", "a\nb", "a\rb", "a\0b"])
async def test_headers_cannot_end_their_line(value: str) -> None:
    async with answering(HELLO) as raw:
        with pytest.raises(ValueError, match="line break"):
            await raw.post(X=value)

    assert not raw.requests


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "http://", "http://a:b@c/", "x"])
async def test_urls_that_are_refused(url: str) -> None:
    async with open_connections(AddressPolicy(), TIMEOUT_S) as connections:
        with pytest.raises(ConnectError) as refused:
            await connections.post(url, {}, b"")

    assert refused.value.cause is ConnectCause.INVALID_URL


async def test_nothing_is_sent_on_a_reserved_connection_that_has_ended() -> None:
    async with answering(HELLO) as raw:
        connection = await raw.connections.connect(raw.url)
        connection.close()

        with pytest.raises(ConnectionEndedError):
            await raw.connections.send(connection, raw.url, {}, b"{}")

    assert not raw.requests


async def test_silence_ends_no_answer_while_its_server_waits_for_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_connection, "KEEPALIVE_S", 1.0)
    head = OK + CHUNKED
    async with answering(head, head, silence_s=1.0) as raw:
        connection = await raw.connections.connect(raw.url)
        waiting = await raw.connections.send(connection, raw.url, {}, b"{}")
        with connection.silence_allowed():
            silent = await raw.post()
            with pytest.raises(TimeoutError):
                await silent.read()

            reading = asyncio.create_task(waiting.read())
            await asyncio.sleep(0)
            assert not reading.done()
        with pytest.raises(TimeoutError):
            await reading
