"""Streams arrive byte by byte, but for the usage that no client has asked for."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from tests.integration.model_gateway.dialects import (
    CHAT,
    DONE,
    MESSAGES,
    RESPONSES,
    STREAMED,
    USAGE,
    USAGE_CHUNK,
    Spoken,
    chunk_of,
    delta,
)
from tests.integration.model_gateway.provider import (
    CHUNKED,
    LAST_CHUNK,
    STREAM,
    chunk,
    in_pieces,
    provider,
    sending,
    stream,
)
from tests.integration.model_gateway.stage import Stage

CUTS = 40
LINE_ENDS = (b"\n", b"\r\n", b"\r")
# A filter's findings, before there is anything that they are of.
FILTERED = {"prompt_filter_results": [{"prompt_index": 0}]}
COMMENT = b": still at work\n\n"
TEXT = 'é \N{GRINNING FACE} \u2028 line\nend \\ " usage [DONE] error'
each_dialect = pytest.mark.parametrize(
    "spoken", STREAMED, ids=lambda each: each.dialect.value
)


def with_line_ends(event: bytes, end: bytes) -> bytes:
    return event.replace(b"\n", end)


@each_dialect
@pytest.mark.parametrize("line_end", [*LINE_ENDS, None])
async def test_a_stream_arrives_wherever_it_is_cut(
    stage: Stage, spoken: Spoken, line_end: bytes | None
) -> None:
    events: list[bytes] = [COMMENT, *spoken.events[:-1], COMMENT, spoken.events[-1]]
    async with provider(b"") as made:
        await stage.routes_to(made.url)
        for seed in range(CUTS):
            random = Random(seed)  # noqa: S311 # drawn again from it
            ended = [
                (each, with_line_ends(each, line_end or random.choice(LINE_ENDS)))
                for each in events
            ]
            sent = b"".join(each for _, each in ended)
            expected = b"".join(each for event, each in ended if event != USAGE_CHUNK)
            pieces = [*map(chunk, in_pieces(sent, seed)), LAST_CHUNK]
            made.answers = [sending(CHUNKED, *pieces)]

            reply = await stage.call(spoken, stream=True)

            assert await reply.read() == expected, seed


@each_dialect
async def test_the_wire_may_be_cut_anywhere_too(stage: Stage, spoken: Spoken) -> None:
    events = [each for each in spoken.events if each != USAGE_CHUNK]
    async with provider(b"") as made:
        await stage.routes_to(made.url)
        for seed in range(CUTS):
            made.answers = [sending(*in_pieces(stream(events), seed))]

            reply = await stage.call(spoken, stream=True)

            assert await reply.read() == b"".join(events), seed


@each_dialect
async def test_a_stream_without_a_length_ends_with_its_connection(
    stage: Stage, spoken: Spoken
) -> None:
    sent = b"".join(each for each in spoken.events if each != USAGE_CHUNK)
    async with provider(STREAM + b"\r\n" + sent) as made:
        made.closes = True
        await stage.routes_to(made.url)

        reply = await stage.call(spoken, stream=True)

        assert await reply.read() == sent


async def streamed(
    stage: Stage, events: Sequence[bytes], **other: Any
) -> tuple[bytes, Any]:
    """Return what a client got of a chat's stream, and what the provider was asked."""
    async with provider(stream(events)) as made:
        await stage.routes_to(made.url)
        reply = await stage.call(CHAT, stream=True, **other)
        received = await reply.read()
    (asked,) = made.received
    return received, asked.json


@pytest.mark.parametrize(
    "given", [{}, {"stream_options": None}, {"stream_options": {}}]
)
async def test_usage_that_the_gateway_alone_asked_for_is_withheld(
    stage: Stage, given: dict[str, Any]
) -> None:
    events = [delta(TEXT), USAGE_CHUNK, DONE]

    received, asked = await streamed(stage, events, **given)

    assert asked["stream_options"] == {"include_usage": True}
    assert received == delta(TEXT) + DONE


@pytest.mark.parametrize("include_usage", [True, False])
async def test_usage_that_a_client_has_decided_on_arrives(
    stage: Stage, *, include_usage: bool
) -> None:
    options = {"include_usage": include_usage, "include_obfuscation": False}
    events = [delta(TEXT), USAGE_CHUNK, DONE]

    received, asked = await streamed(stage, events, stream_options=options)

    assert asked == CHAT.body | {
        "model": "swift-1",
        "stream": True,
        "stream_options": options,
    }
    assert received == b"".join(events)


@pytest.mark.parametrize(
    "event",
    [
        chunk_of([], id="", model="", object="", created=0, **FILTERED),
        chunk_of([{"index": 0, "delta": {}, "finish_reason": "stop"}], USAGE),
        delta('"usage":{"total_tokens":1},"choices":[]'),
        b'data: {"usage":{"total_tokens":1}}\n\n',
        b'data: {"choices":[],"usage":{\n\n',
        b"data: usage, not JSON\n\n",
        b'data: "usage"\n\n',
        b'data: ["usage"]\n\n',
        b': {"choices":[],"usage":{}}\n\n',
        b"\n\n",
    ],
)
async def test_nothing_else_is_withheld(stage: Stage, event: bytes) -> None:
    events = [event, delta("Hello"), event, USAGE_CHUNK, event, DONE]

    received, _ = await streamed(stage, events)

    assert received == b"".join(each for each in events if each != USAGE_CHUNK)


@pytest.mark.parametrize(
    "event",
    [
        USAGE_CHUNK.replace(b":", b" : ").replace(b"data :", b"data:"),
        USAGE_CHUNK.replace(b"data: {", b"data:{\ndata: ").replace(
            b"\n\n", b"\nid: 1\n\n"
        ),
        b": usage\nevent: message\n" + USAGE_CHUNK,
    ],
)
async def test_usage_is_withheld_however_it_is_written(
    stage: Stage, event: bytes
) -> None:
    received, _ = await streamed(stage, [delta("Hello"), event, DONE])

    assert received == delta("Hello") + DONE


@pytest.mark.parametrize("spoken", [RESPONSES, MESSAGES], ids=["responses", "messages"])
async def test_usage_of_other_dialects_is_never_withheld(
    stage: Stage, spoken: Spoken
) -> None:
    events = [USAGE_CHUNK, *spoken.events[:-1], USAGE_CHUNK, spoken.events[-1]]
    async with provider(stream(events)) as made:
        await stage.routes_to(made.url)

        reply = await stage.call(spoken, stream=True)

        assert await reply.read() == b"".join(events)
    assert "stream_options" not in made.received[0].json
