"""Answers whose end is that of a connection, here or at the provider."""

import asyncio

import pytest

from service.model_gateway.endpoint.answers import HELD_BYTES_MAX
from tests.integration.model_gateway.dialects import CHAT, Spoken
from tests.integration.model_gateway.faults import first_two, read_to_its_end
from tests.integration.model_gateway.provider import CHUNKED, chunk, provider, stream
from tests.integration.model_gateway.stage import Stage
from tests.integration.model_gateway.test_forwarding import each_dialect
from tests.support.waiting import TIMEOUT_S

JSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
LARGE = b'{"text":"' + b"x" * (2 * HELD_BYTES_MAX) + b'"}'


async def test_a_large_answer_without_a_length_arrives(stage: Stage) -> None:
    async with provider(JSON + LARGE) as made:
        made.closes = True
        await stage.routes_to(made.url)

        reply = await stage.call(CHAT)

        assert await read_to_its_end(reply) == (LARGE, True)


async def test_a_large_answer_without_a_length_that_is_cut_does_not_end(
    stage: Stage,
) -> None:
    async with provider(JSON + LARGE[:-2]) as made:
        made.closes = True
        await stage.routes_to(made.url)

        reply = await stage.call(CHAT)

        assert await read_to_its_end(reply) == (LARGE[:-2], False)


async def test_an_error_without_a_length_that_is_no_json_arrives(stage: Stage) -> None:
    page = b"<h1>Bad gateway</h1>"
    head = b"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\n\r\n"
    async with provider(head + page) as made:
        made.closes = True
        await stage.routes_to(made.url)

        reply = await stage.call(CHAT)

        assert (reply.status, await reply.read()) == (502, page)


async def _old_client(stage: Stage, spoken: Spoken) -> bytes:
    """Return the answer that a client of HTTP/1.0 gets to its end.

    :raises ConnectionResetError: it has none
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", stage.client.port)
    body = spoken.request(stream=True)
    head = f"POST {stage.path(spoken.path)} HTTP/1.0\r\nHost: x\r\n"
    head += f"X-Api-Key: {stage.token}\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    try:
        async with asyncio.timeout(TIMEOUT_S):
            return await reader.read()
    finally:
        writer.close()


@each_dialect
async def test_a_stream_reaches_a_client_of_http_1_0(
    stage: Stage, spoken: Spoken
) -> None:
    async with provider(stream(spoken.events)) as made:
        await stage.routes_to(made.url)

        received = await _old_client(stage, spoken)

    assert received.startswith(b"HTTP/1.0 200 OK\r\n")
    assert received.endswith(spoken.events[-1])


async def test_a_cut_stream_of_chat_does_not_end_for_a_client_of_http_1_0(
    stage: Stage,
) -> None:
    async with provider(CHUNKED + chunk(b"".join(first_two(CHAT)))) as made:
        made.closes = True
        await stage.routes_to(made.url)

        with pytest.raises(ConnectionResetError):
            await _old_client(stage, CHAT)
