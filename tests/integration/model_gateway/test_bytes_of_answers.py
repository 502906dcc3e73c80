"""Whole answers, and calls, of any size and framing arrive byte by byte."""

from io import BytesIO
from random import Random
from typing import Any

import pytest

from service.model_gateway.endpoint.answers import HELD_BYTES_MAX
from service.pacing import INLINE_BYTES_MAX
from tests.integration.model_gateway.dialects import CHAT, RESPONSES
from tests.integration.model_gateway.provider import (
    CHUNKED,
    LAST_CHUNK,
    answer,
    chunk,
    in_pieces,
    provider,
    sending,
)
from tests.integration.model_gateway.stage import Stage

SIZES = [0, 1, 2, HELD_BYTES_MAX - 1, HELD_BYTES_MAX, HELD_BYTES_MAX + 1, 3 * 2**20]


def content_of(size: int) -> bytes:
    """Return bytes of any kind, with an end that closes a document."""
    return (Random(size).randbytes(size - 1) + b"}") if size else b""  # noqa: S311 # no secret


@pytest.mark.parametrize("size", SIZES)
async def test_an_answer_with_a_length_arrives(stage: Stage, size: int) -> None:
    content = content_of(size)
    async with provider(answer(content)) as made:
        await stage.routes_to(made.url)

        for _ in range(2):
            reply = await stage.call(CHAT)

            assert await reply.read() == content
            assert reply.headers["Content-Length"] == str(size)
            assert "Transfer-Encoding" not in reply.headers
    assert (made.opened, len(made.received)) == (1, 2)


@pytest.mark.parametrize("size", SIZES)
async def test_an_answer_in_chunks_arrives(stage: Stage, size: int) -> None:
    content = content_of(size)
    head = CHUNKED.replace(b"text/event-stream", b"application/json")
    pieces = map(chunk, in_pieces(content, size) if size else [])
    async with provider(sending(head, *pieces, LAST_CHUNK)) as made:
        await stage.routes_to(made.url)

        reply = await stage.call(CHAT)

        assert await reply.read() == content


@pytest.mark.parametrize("size", SIZES[1:])
async def test_an_answer_that_ends_with_its_connection_arrives(
    stage: Stage, size: int
) -> None:
    content = content_of(size)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
    async with provider(sending(head, content)) as made:
        made.closes = True
        await stage.routes_to(made.url)

        reply = await stage.call(CHAT)

        assert (reply.status, await reply.read()) == (200, content)


@pytest.mark.parametrize("status", [200, 201, 400, 404, 422, 451, 499, 501, 599])
async def test_an_answer_of_any_status_arrives(stage: Stage, status: int) -> None:
    content = b'{"error": {"message" : "as the provider writes it"}}\n'
    async with provider(answer(content, f"{status} So")) as made:
        await stage.routes_to(made.url)

        reply = await stage.call(CHAT)

        assert (reply.status, await reply.read()) == (status, content)
    assert len(made.received) == 1


async def test_an_answer_that_is_compressed_nevertheless_arrives(stage: Stage) -> None:
    content = content_of(1000)
    headers = b"Content-Encoding: br\r\n"
    async with provider(answer(content, headers=headers)) as made:
        await stage.routes_to(made.url)
        asked = {"Accept-Encoding": "br"}

        async with stage.client.session.post(
            stage.client.make_url(stage.path(CHAT.path)),
            data=CHAT.request(),
            headers={"Authorization": f"Bearer {stage.token}", **asked},
            auto_decompress=False,
        ) as reply:
            assert await reply.read() == content
            assert reply.headers["Content-Encoding"] == "br"
    assert made.received[0].header("Accept-Encoding") == "identity"


@pytest.mark.parametrize("size", [INLINE_BYTES_MAX - 200, INLINE_BYTES_MAX, 3 * 2**20])
@pytest.mark.parametrize("is_chunked", [False, True])
async def test_a_call_of_any_size_arrives(
    stage: Stage, size: int, *, is_chunked: bool
) -> None:
    padding = Random(size).randbytes(size // 2).hex().encode()  # noqa: S311 # no secret
    body = b'\n{ "input":"%b" ,"model":\t"fast"} ' % padding
    async with provider(answer(RESPONSES.whole)) as made:
        await stage.routes_to(made.url)

        async def pieces() -> Any:
            for piece in in_pieces(body, size):
                yield piece

        reply = await stage.client.post(
            stage.path(RESPONSES.path),
            data=pieces() if is_chunked else BytesIO(body),
            headers={"Authorization": f"Bearer {stage.token}"},
        )

        assert (reply.status, await reply.json()) == (200, RESPONSES.whole)
    assert made.received[0].body == body.replace(b'"fast"', b'"swift-1"')
