"""Streaming answers: bounded in number, cut off when nobody reads, never half a lie."""

import asyncio

import pytest
from aiohttp import ClientPayloadError, web
from aiohttp.test_utils import TestClient
from pytest_aiohttp.plugin import AiohttpClient

from service.http import streaming
from service.http.authentication import PRINCIPAL
from service.http.streaming import STREAMS_OF_USER_MAX, Stream, Streams
from service.http.telemetry import name_request
from tests.support.scenario import principal
from tests.support.waiting import until

CHUNK = b"x" * 65536


@pytest.fixture
def streams() -> Streams:
    return Streams(streams_max=1)


@pytest.fixture
async def client(streams: Streams, aiohttp_client: AiohttpClient) -> TestClient:
    """A server that streams forever, for a while, or until it breaks."""

    async def for_ever(stream: Stream) -> None:
        while True:
            await stream.write(CHUNK)

    async def some(stream: Stream) -> None:
        await stream.write(b"some")

    async def breaking(stream: Stream) -> None:
        await stream.write(b"half")
        raise ValueError("a fault")

    ways = {"for-ever": for_ever, "some": some, "breaking": breaking}

    async def answer(request: web.Request) -> web.StreamResponse:
        name_request(request)
        request[PRINCIPAL] = principal(request.headers.get("X-User", "ada"))
        async with streams.open(request, "text/plain", {"X-Own": "1"}) as stream:
            await ways[request.match_info["way"]](stream)
        return stream.response

    app = web.Application()
    app.router.add_get("/{way}", answer)
    return await aiohttp_client(app)


async def until_free(streams: Streams) -> None:
    await until(lambda: streams.free)


async def test_a_stream_has_the_headers_of_every_answer(client: TestClient) -> None:
    response = await client.get("/some")

    assert await response.read() == b"some"
    assert response.headers["X-Own"] == "1"
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["X-Request-Id"]


async def test_a_client_that_does_not_read_is_disconnected(
    client: TestClient, streams: Streams, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "WRITE_TIMEOUT_S", 0.2)
    host, port = client.server.host, client.server.port
    reader, writer = await asyncio.open_connection(host, port, limit=1024)
    writer.write(b"GET /for-ever HTTP/1.1\r\nHost: x\r\n\r\n")
    assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"

    await until_free(streams)
    # What it hadn't read yet would end without an error, and fill memory until then.
    with pytest.raises(ConnectionResetError):
        await reader.read()
    writer.close()


async def test_a_client_that_leaves_frees_its_slot(
    client: TestClient, streams: Streams
) -> None:
    async with client.get("/for-ever") as response:
        assert response.status == 200
        assert streams.free == 0
        response.close()

    await until_free(streams)


async def test_what_breaks_off_doesnt_look_complete(
    client: TestClient, streams: Streams
) -> None:
    with pytest.raises(ClientPayloadError):
        await (await client.get("/breaking")).read()

    assert streams.free == 1


async def test_one_user_cannot_hold_all_streams(
    client: TestClient, streams: Streams
) -> None:
    streams.free = 64
    asked = [await client.get("/for-ever") for _ in range(STREAMS_OF_USER_MAX)]

    refused = await client.get("/for-ever")
    other = await client.get("/some", headers={"X-User": "bob"})

    assert refused.status == 500  # the bare server of this test knows no errors
    assert (other.status, streams.free) == (200, 64 - STREAMS_OF_USER_MAX)
    asked.pop().close()
    await until(lambda: streams.free > 64 - STREAMS_OF_USER_MAX)
    again = await client.get("/some")
    assert again.status == 200
    for each in asked:
        each.close()
