"""Model calls are forwarded as they are, but for the documented edits."""

import pytest

from tests.integration.model_gateway.dialects import STREAMED, USAGE_CHUNK, Spoken
from tests.integration.model_gateway.provider import answer, provider, stream
from tests.integration.model_gateway.stage import KEY, Stage

each_dialect = pytest.mark.parametrize(
    "spoken", STREAMED, ids=lambda each: each.dialect.value
)


@each_dialect
async def test_a_call_reaches_the_provider_with_its_key(
    stage: Stage, spoken: Spoken
) -> None:
    body = spoken.request().replace(b'"model":"fast"', b'"model" : "fast"')
    async with provider(
        answer(spoken.whole, headers=b"X-Request-Id: req_1\r\n")
    ) as made:
        await stage.routes_to(made.url)

        reply = await stage.call(spoken, body, {"anthropic-beta": "a,b"})

        assert (reply.status, await reply.json()) == (200, spoken.whole)
        assert reply.headers["X-Request-Id"] == "req_1"
    (received,) = made.received
    assert received.target == spoken.provider_path
    assert received.body == body.replace(b'"fast"', b'"swift-1"')
    assert received.header("Authorization") == f"Bearer {KEY}"
    assert received.header("anthropic-beta") == "a,b"
    assert stage.token not in str(received)


@each_dialect
async def test_a_stream_arrives_as_it_was_sent(stage: Stage, spoken: Spoken) -> None:
    async with provider(stream(spoken.events)) as made:
        await stage.routes_to(made.url)

        reply = await stage.call(spoken, stream=True)

        received = await reply.read()
    expected = b"".join(each for each in spoken.events if each != USAGE_CHUNK)
    assert received == expected
    assert reply.headers["Content-Type"] == "text/event-stream"
