"""What is on record of answers that are no streams, also of large ones."""

from hashlib import sha256
from typing import Any

import orjson
import pytest

from service.model_gateway.endpoint.answers import HELD_BYTES_MAX
from service.resources import Resources
from tests.integration.model_gateway.dialects import CHAT, MESSAGES, Spoken
from tests.integration.model_gateway.faults import read_to_its_end
from tests.integration.model_gateway.provider import answer, provider
from tests.integration.model_gateway.recorded import call_of, events_of
from tests.integration.model_gateway.stage import MODEL, Stage
from tests.integration.model_gateway.test_forwarding import each_dialect
from tests.support.callers import Caller
from tests.support.sessions.pricing import set_price

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"


@pytest.fixture(autouse=True)
async def price(root: Caller) -> None:
    """Of what is asked for, and of what an answer names."""
    for model in (MODEL, "swift-1-2026"):
        await set_price(root, model, 2, output=10)


async def assert_digests(resources: Resources, content: bytes) -> None:
    """Check that what came went on, and was this."""
    (finished,) = await events_of(resources, "finished")
    digest = sha256(content).hexdigest()
    assert finished.event.digests == {"received": digest, "sent": digest}


def embedded(numbers: int) -> dict[str, Any]:
    vector = {"object": "embedding", "index": 0, "embedding": [0.5] * numbers}
    return {
        "object": "list",
        "data": [vector],
        "model": "swift-1-2026",
        "usage": {"prompt_tokens": 8, "total_tokens": 8},
    }


@pytest.mark.parametrize("is_large", [True, False])
async def test_embeddings_are_recorded_with_their_usage(
    stage: Stage, resources: Resources, *, is_large: bool
) -> None:
    content = orjson.dumps(embedded(HELD_BYTES_MAX if is_large else 3))
    body = orjson.dumps({"model": "fast", "input": "Hi"})
    async with provider(answer(content)) as made:
        await stage.routes_to(made.url)

        reply = await stage.client.post(
            stage.path("/openai/v1/embeddings"),
            data=body,
            headers={"x-api-key": stage.token},
        )

        assert await reply.read() == content
        call = await call_of(stage)
    usage = call["usage"]
    assert (call["outcome"], call["dialect"]) == ("ok", "openai_embeddings")
    assert (call["request_bytes"], call["answer_bytes"]) == (len(body), len(content))
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (8, 0)
    assert usage["cost"] == 0.000016
    # What stands before the end of a large one isn't kept.
    assert usage["model"] == (MODEL if is_large else "swift-1-2026")
    await assert_digests(resources, content)


def large(spoken: Spoken) -> bytes:
    """Return a whole answer with a long text before its usage."""
    usage = spoken.whole["usage"]
    rest = {name: each for name, each in spoken.whole.items() if name != "usage"}
    return orjson.dumps({"text": "x" * 2 * HELD_BYTES_MAX, **rest, "usage": usage})


@each_dialect
@pytest.mark.parametrize("has_length", [True, False])
async def test_the_usage_of_a_large_document_is_read_at_its_end(
    stage: Stage, resources: Resources, spoken: Spoken, *, has_length: bool
) -> None:
    content = large(spoken)
    async with provider(answer(content) if has_length else HEAD + content) as made:
        made.closes = not has_length
        await stage.routes_to(made.url)

        reply = await stage.call(spoken)

        assert await reply.read() == content
        call = await call_of(stage)
    assert (call["outcome"], call["usage"]["cost"]) == ("ok", 0.000038)
    assert call["answer_bytes"] == len(content)
    await assert_digests(resources, content)


@each_dialect
@pytest.mark.parametrize("has_length", [True, False])
async def test_a_large_document_that_is_cut_has_no_known_cost(
    stage: Stage, resources: Resources, spoken: Spoken, *, has_length: bool
) -> None:
    content = large(spoken)[:-2]
    sent = answer(large(spoken))[:-2] if has_length else HEAD + content
    async with provider(sent) as made:
        made.closes = True
        await stage.routes_to(made.url)

        reply = await stage.call(spoken)

        assert await read_to_its_end(reply) == (content, False)
        call = await call_of(stage)
    assert (call["outcome"], call["status"]) == ("cut", 200)
    assert call["usage"]["unpriced"] == "count_missing"
    assert call["answer_bytes"] == len(content)
    await assert_digests(resources, content)


@pytest.mark.parametrize(
    "document",
    [
        {**CHAT.whole, "usage": None},
        {**CHAT.whole, "usage": {"prompt_tokens": -1, "completion_tokens": "2"}},
        {**CHAT.whole, "usage": {"prompt_tokens": 9}},
        {**CHAT.whole, "usage": [1]},
        [CHAT.whole],
        "Hello",
    ],
    ids=range(6),
)
async def test_an_answer_without_usage_has_no_known_cost(
    stage: Stage, document: Any
) -> None:
    async with provider(answer(orjson.dumps(document))) as made:
        await stage.routes_to(made.url)

        assert (await stage.call(CHAT)).status == 200

        call = await call_of(stage)
    assert call["outcome"] == "ok"
    assert (call["usage"]["cost"], call["usage"]["unpriced"]) == (None, "count_missing")


@pytest.mark.parametrize("name", ["\x00", "a\nb", "x" * 300, " x", "", 7, None])
async def test_odd_names_in_an_answer_are_not_recorded(stage: Stage, name: Any) -> None:
    document = {**MESSAGES.whole, "id": name, "model": name}
    async with provider(answer(document)) as made:
        await stage.routes_to(made.url)

        assert (await stage.call(MESSAGES)).status == 200

        call = await call_of(stage)
    assert (call["outcome"], call["response_id"]) == ("ok", None)
    assert (call["usage"]["model"], call["usage"]["cost"]) == (MODEL, 0.000038)
