"""How pieces of an answer are handed over between two connections."""

import asyncio
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, cast

import pytest
from aiohttp import web

from service.http import relayed_body
from service.http.relayed_body import RelayedBody
from service.http.streaming import SlowReaderError
from service.upstream_http.connection import TURN_BYTES_MAX, Connection
from service.upstream_http.event_scanner import EventScanner, Marker
from service.upstream_http.relay import Relay
from service.upstream_http.response import Response

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class Transport:
    """Counts what is asked of it; ``sizes`` are those of its buffer, one by one."""

    def __init__(self, sizes: Iterator[int] | None = None) -> None:
        self.is_reading = True
        self.sizes = sizes

    def write(self, data: bytes) -> None:
        """Send it."""

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        """Close it."""

    abort = close

    def pause_reading(self) -> None:
        self.is_reading = False

    def resume_reading(self) -> None:
        self.is_reading = True

    def get_write_buffer_size(self) -> int:
        assert self.sizes is not None
        return next(self.sizes)

    def get_extra_info(self, _name: str) -> None:
        return None


class Client:
    def __init__(self) -> None:
        self.taken: list[bytes] = []

    def take(self, piece: bytes) -> int:
        self.taken.append(piece)
        return 0

    async def drained(self) -> None:
        """Wait for nothing."""


def connected(transport: Transport) -> tuple[Connection, Response]:
    connection = Connection(lambda _: None, lambda _: None, silence_s=60)
    connection.connection_made(cast("asyncio.Transport", transport))
    return connection, connection.send(b"")


async def test_chunks_that_arrive_at_once_are_one_piece() -> None:
    connection, answer = connected(Transport())
    client = Client()
    relaying = asyncio.create_task(answer.relay(client))
    await asyncio.sleep(0)

    connection.data_received(HEAD + b"1\r\nx\r\n" * 1000 + b"0\r\n\r\n")

    assert client.taken == [b"x" * 1000]
    await relaying


async def test_much_at_once_lets_others_have_their_turn() -> None:
    transport = Transport()
    connection, answer = connected(transport)
    relaying = asyncio.create_task(answer.relay(Client()))
    await asyncio.sleep(0)

    connection.data_received(HEAD + b"1\r\nx\r\n" * TURN_BYTES_MAX)

    assert not transport.is_reading
    await asyncio.sleep(0)
    assert transport.is_reading
    relaying.cancel()


@pytest.mark.parametrize("end", [b"", b"\r\r"])
async def test_the_digest_of_what_was_sent_has_the_end(end: bytes) -> None:
    connection, answer = connected(Transport())
    client = Client()
    scanner = EventScanner([Marker(b"usage")], lambda _: False)
    relay = Relay(client, scanner)
    body = b"data: 1\n\ndata: tail" + end

    connection.data_received(HEAD + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
    await relay.run(answer)

    assert b"".join(client.taken) == body
    assert relay.sent.digest() == sha256(body).digest() == relay.received.digest()


class Writer:
    async def drain(self) -> None:
        await asyncio.Event().wait()


class Request:
    writer = Writer()

    def __init__(self, transport: Transport) -> None:
        self.transport = transport


async def test_a_client_that_reads_slowly_is_waited_for_while_it_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relayed_body, "WRITE_TIMEOUT_S", 0)
    # Before and after each wait; then it reads no more.
    sizes = iter([900, 600, 600, 300, 300, 300])
    request: Any = Request(Transport(sizes))
    body = RelayedBody(request, web.StreamResponse())

    with pytest.raises(SlowReaderError):
        await body.drained()
    assert next(sizes, None) is None
