"""The body of an upstream's answer, relayed to a client that reads as it likes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import ip_network

import pytest
from aiohttp import web

from service.http import relayed_body
from service.http.disconnect import ClientLeftError, cancelled_on_disconnect
from service.http.relayed_body import RelayedBody
from service.http.streaming import SlowReaderError
from service.upstream_http.addresses import AddressPolicy
from service.upstream_http.connections import Connections, open_connections
from service.upstream_http.event_scanner import EventScanner, Marker
from service.upstream_http.relay import Relay
from service.upstream_http.response import UNREAD_BYTES_MAX, Response
from tests.support.http_server import Server
from tests.support.waiting import TIMEOUT_S, until

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
SIZED = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
LAST = b"0\r\n\r\n"
HELD = b"data: {usage}\n\n"
EVENTS = [b"event: delta\ndata: %d\n\n" % number for number in range(50)]
# More than the buffers of two sockets hold, and than may wait in between.
FLOOD = 256 * UNREAD_BYTES_MAX

Answering = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class World:
    """A relay, its upstream, and what its handler has seen."""

    connections: Connections
    answering: Answering
    url: str = ""
    scans: bool = False
    examine: Callable[[bytes], bool] = field(default=lambda _: False)
    may_begin: Callable[[], bool] = field(default=lambda: True)
    client: asyncio.Transport | None = None
    relays: list[Relay] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)
    # Of the upstream's answer.
    sent: int = 0

    async def upstream(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            await self.answering(writer)
        except ConnectionError:
            return
        finally:
            writer.close()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        try:
            with cancelled_on_disconnect(request):
                answer = await self.connections.post(self.url, {}, b"")
                try:
                    return await self.relayed(request, answer)
                finally:
                    answer.close()
        except Exception as error:
            self.errors.append(error)
            raise

    async def relayed(
        self, request: web.Request, answer: Response
    ) -> web.StreamResponse:
        response = web.StreamResponse(status=answer.status)
        response.content_length = _length(answer)
        await response.prepare(request)
        await until(self.may_begin)
        self.client = request.transport
        scanner = None
        if self.scans:
            scanner = EventScanner([Marker(b"usage")], self.examine)
        relay = Relay(RelayedBody(request, response), scanner)
        self.relays.append(relay)
        await relay.run(answer)
        await response.write_eof()
        return response

    async def flood(self, writer: asyncio.StreamWriter) -> None:
        """Send more than may wait for a client anywhere."""
        writer.write(SIZED % FLOOD)
        piece = b"x" * 65536
        while self.sent < FLOOD:
            writer.write(piece)
            await writer.drain()
            self.sent += len(piece)


def _length(answer: Response) -> int | None:
    length = answer.header(b"content-length")
    return None if length is None else int(length)


@asynccontextmanager
async def relaying(
    answering: Answering | None = None, *, scans: bool = False
) -> AsyncIterator[tuple[World, Server]]:
    policy = AddressPolicy((ip_network("127.0.0.0/8"),))
    async with open_connections(policy, silence_s=60.0) as connections:
        world = World(connections, _nothing, scans=scans)
        world.answering = answering or world.flood
        listening = await asyncio.start_server(world.upstream, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        world.url = f"http://127.0.0.1:{port}/"
        app = web.Application()
        app.router.add_post("/", world.handle)
        server = Server(app)
        async with listening, server:
            yield world, server


async def _nothing(_writer: asyncio.StreamWriter) -> None:
    """Answer nothing."""


async def request(
    server: Server, version: str = "1.1"
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    # It reads no further than its limit.
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(
        f"POST / HTTP/{version}\r\nHost: x\r\nContent-Length: 0\r\n\r\n".encode()
    )
    await reader.readuntil(b"\r\n\r\n")
    return reader, writer


async def chunks(reader: asyncio.StreamReader) -> list[bytes]:
    """Return the chunks of a body, each as it was sent."""
    found = []
    while size := int(await reader.readuntil(b"\r\n"), 16):
        found.append(await reader.readexactly(size))
        assert await reader.readexactly(2) == b"\r\n"
    assert await reader.readexactly(2) == b"\r\n"
    return found


async def send_events(writer: asyncio.StreamWriter) -> None:
    writer.write(CHUNKED)
    for event in [*EVENTS, HELD]:
        writer.write(b"%x\r\n%b\r\n" % (len(event), event))
        await writer.drain()
    writer.write(LAST)


@pytest.mark.parametrize("scans", [False, True])
async def test_a_body_arrives_as_it_was_sent(*, scans: bool) -> None:
    async with relaying(send_events, scans=scans) as (world, server):
        world.examine = lambda _: True
        reader, writer = await request(server)

        assert b"".join(await chunks(reader)) == b"".join([*EVENTS, HELD])
        writer.close()
    digest = sha256(b"".join([*EVENTS, HELD])).digest()
    assert world.relays[0].received.digest() == digest
    assert world.relays[0].sent.digest() == digest


async def test_what_is_withheld_is_in_one_digest() -> None:
    async with relaying(send_events, scans=True) as (world, server):
        reader, writer = await request(server)

        assert b"".join(await chunks(reader)) == b"".join(EVENTS)
        writer.close()
    relay = world.relays[0]
    assert relay.sent.digest() == sha256(b"".join(EVENTS)).digest()
    assert relay.received.digest() == sha256(b"".join([*EVENTS, HELD])).digest()


async def test_a_piece_goes_on_before_the_next_one_comes() -> None:
    go_on = asyncio.Event()

    async def answering(writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + b"5\r\nfirst\r\n")
        await go_on.wait()
        writer.write(b"6\r\nsecond\r\n" + LAST)

    async with relaying(answering) as (_, server):
        reader, writer = await request(server)

        assert await reader.readexactly(10) == b"5\r\nfirst\r\n"
        go_on.set()
        assert await chunks(reader) == [b"second"]
        writer.close()


async def test_a_client_of_http_1_0_gets_no_chunks() -> None:
    async with relaying(send_events) as (_, server):
        reader, writer = await request(server, "1.0")

        assert await reader.read() == b"".join([*EVENTS, HELD])
        writer.close()


async def test_large_pieces() -> None:
    async with relaying() as (world, server):
        reader, writer = await request(server)

        received = await reader.readexactly(FLOOD)
        writer.close()
    assert received == b"x" * FLOOD
    assert world.relays[0].sent.digest() == sha256(received).digest()


async def test_an_upstream_waits_for_a_client_that_reads_slowly() -> None:
    async with relaying() as (world, server):
        reader, writer = await request(server)
        sent = -1
        while sent != world.sent:
            sent = world.sent
            await asyncio.sleep(0.2)

        assert sent < FLOOD / 2
        assert await reader.readexactly(FLOOD) == b"x" * FLOOD
        writer.close()
    assert world.errors == []


async def test_what_arrived_before_the_relay_began_does_not_stop_it() -> None:
    """The upstream was told to wait until it is read."""
    async with relaying() as (world, server):
        world.may_begin = lambda: world.sent > 2 * UNREAD_BYTES_MAX
        reader, writer = await request(server)

        assert await reader.readexactly(FLOOD) == b"x" * FLOOD
        writer.close()


async def test_a_client_that_does_not_read_is_disconnected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relayed_body, "WRITE_TIMEOUT_S", 0.1)
    async with relaying() as (world, server):
        _, writer = await request(server)

        await until(lambda: world.errors)
        await until(lambda: not world.connections.opened)
        writer.close()
    assert isinstance(world.errors[0], SlowReaderError | ClientLeftError)


async def test_a_client_that_leaves_ends_the_upstream_s_connection() -> None:
    async def answering(writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED)
        while True:
            writer.write(b"5\r\nevent\r\n")
            await writer.drain()
            await asyncio.sleep(0)

    async with relaying(answering) as (world, server):
        reader, writer = await request(server)
        await reader.readexactly(10)

        writer.close()
        await until(lambda: not world.connections.opened)
    assert [type(each) for each in world.errors] == [ClientLeftError]


async def test_a_client_that_stops_reading_before_the_end_is_disconnected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The upstream has ended, and nothing else waits for the client."""
    monkeypatch.setattr(relayed_body, "WRITE_TIMEOUT_S", 0.1)

    async def answering(writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + b"5\r\nfirst\r\n")
        await until(lambda: world.client is not None)
        assert world.client is not None
        # Enough to wait for the client, and too little for the upstream to wait.
        while world.client.get_write_buffer_size() < UNREAD_BYTES_MAX / 2:
            writer.write(b"4000\r\n" + b"x" * 0x4000 + b"\r\n")
            await writer.drain()
            await asyncio.sleep(0)
        writer.write(LAST)

    async with relaying(answering) as (world, server):
        _, writer = await request(server)

        await until(lambda: world.errors)
        writer.close()
    assert isinstance(world.errors[0], SlowReaderError | ClientLeftError)


async def test_an_error_of_what_examines_events_is_told_as_it_is() -> None:
    def examine(_event: bytes) -> bool:
        raise LookupError("usage")

    async with relaying(send_events, scans=True) as (world, server):
        world.examine = examine
        reader, writer = await request(server)

        assert not (await reader.read()).endswith(LAST)
        writer.close()
    assert [repr(each) for each in world.errors] == ["LookupError('usage')"]


async def test_an_answer_that_is_closed_here_does_not_end_as_if_it_were_whole() -> None:
    async def answering(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nhalf")
        await until(lambda: not world.connections.opened)

    async with relaying(answering) as (world, server):
        reader, writer = await request(server)
        assert await reader.readexactly(4 + 5) == b"4\r\nhalf\r\n"

        world.connections.close()
        assert await reader.read() == b""
        writer.close()
    assert [type(each) for each in world.errors] == [ConnectionResetError]


@pytest.mark.parametrize("end", [b"", b"5\r\nhal"])
async def test_a_cut_answer_does_not_end_as_if_it_were_whole(end: bytes) -> None:
    async def answering(writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + b"5\r\nfirst\r\n" + end)

    async with relaying(answering) as (world, server):
        reader, writer = await request(server)

        async with asyncio.timeout(TIMEOUT_S):
            assert not (await reader.read()).endswith(LAST)
        writer.close()
    assert [type(each) for each in world.errors] == [ConnectionResetError]
