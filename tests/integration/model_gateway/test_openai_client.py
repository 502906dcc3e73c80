"""OpenAI's own client, with the agent's endpoint as its base URL."""

from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from tests.integration.model_gateway.dialects import (
    CHAT,
    DONE,
    OUTPUT,
    RESPONSES,
    USAGE,
    USAGE_CHUNK,
    chunk_of,
    event,
)
from tests.integration.model_gateway.provider import answer, provider, stream
from tests.integration.model_gateway.stage import KEY, Stage

RETRIES = 2
MESSAGES: Any = [{"role": "user", "content": "What is due?"}]
TOOL: Any = {
    "type": "function",
    "function": {"name": "due", "parameters": {"type": "object", "properties": {}}},
}
CALLED: Any = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "due", "arguments": '{"day":"today"}'},
}
RETRY_SOON = b"retry-after-ms: 1\r\nRetry-After: 0\r\n"
LIMITED = {"error": {"message": "slow down", "type": "requests", "code": "rate"}}


@pytest.fixture
async def ai(stage: Stage) -> AsyncIterator[AsyncOpenAI]:
    """The client, as an agent sets it up."""
    async with AsyncOpenAI(
        base_url=str(stage.client.make_url(stage.path("/openai/v1"))),
        api_key=stage.token,
        max_retries=RETRIES,
    ) as made:
        yield made


async def test_a_chat_completion(stage: Stage, ai: AsyncOpenAI) -> None:
    async with provider(answer(CHAT.whole)) as made:
        await stage.routes_to(made.url)

        reply = await ai.chat.completions.create(model="fast", messages=MESSAGES)

        assert reply.choices[0].message.content == "Hello"
        assert reply.usage is not None
        assert reply.usage.total_tokens == 11
    (received,) = made.received
    assert received.json == {"model": "swift-1", "messages": MESSAGES}
    assert received.header("Authorization") == f"Bearer {KEY}"
    assert str(received.header("User-Agent")).startswith("AsyncOpenAI/")


@pytest.mark.parametrize("asks_for_usage", [False, True])
async def test_a_stream_of_chat_completions(
    stage: Stage, ai: AsyncOpenAI, *, asks_for_usage: bool
) -> None:
    options: Any = {"include_usage": True} if asks_for_usage else None
    async with provider(stream(CHAT.events)) as made:
        await stage.routes_to(made.url)

        chunks = [
            each
            async for each in await ai.chat.completions.create(
                model="fast", messages=MESSAGES, stream=True, stream_options=options
            )
        ]

    deltas = [each.choices[0].delta.content for each in chunks if each.choices]
    assert deltas == ["Hel", "lo", None]
    usages = [each.usage.to_dict() for each in chunks if each.usage]
    assert usages == ([USAGE] if asks_for_usage else [])
    assert len(chunks) == (4 if asks_for_usage else 3)
    (received,) = made.received
    assert received.json["stream_options"] == {"include_usage": True}


async def test_a_chat_with_tools(stage: Stage, ai: AsyncOpenAI) -> None:
    said = {"role": "assistant", "content": None, "tool_calls": [CALLED]}
    asked = {"index": 0, "message": said, "finish_reason": "tool_calls"}
    async with provider(
        answer({**CHAT.whole, "choices": [asked]}), answer(CHAT.whole)
    ) as made:
        await stage.routes_to(made.url)

        first = await ai.chat.completions.create(
            model="fast", messages=MESSAGES, tools=[TOOL], tool_choice="auto"
        )
        (called,) = first.choices[0].message.tool_calls or []
        result = {"role": "tool", "tool_call_id": called.id, "content": "two"}
        told = [*MESSAGES, first.choices[0].message, result]
        last = await ai.chat.completions.create(
            model="fast", messages=told, tools=[TOOL]
        )

    assert called.to_dict() == CALLED
    assert last.choices[0].message.content == "Hello"
    assert [each.json["tools"] for each in made.received] == [[TOOL], [TOOL]]
    assert made.received[1].json["messages"][1]["tool_calls"] == [CALLED]
    assert made.received[1].json["messages"][2] == result


async def test_a_stream_with_tools(stage: Stage, ai: AsyncOpenAI) -> None:
    function = CALLED["function"]
    pieces = ['{"day"', ':"today"}']
    calls = [
        {**CALLED, "index": 0, "function": {**function, "arguments": ""}},
        *({"index": 0, "function": {"arguments": each}} for each in pieces),
    ]
    events = [
        chunk_of([{"index": 0, "delta": {"tool_calls": [each]}, "finish_reason": None}])
        for each in calls
    ]
    events.append(chunk_of([{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]))
    async with provider(stream([*events, USAGE_CHUNK, DONE])) as made:
        await stage.routes_to(made.url)

        async with ai.chat.completions.stream(
            model="fast", messages=MESSAGES, tools=[TOOL]
        ) as running:
            found = await running.get_final_completion()

    (called,) = found.choices[0].message.tool_calls or []
    assert called.function.arguments == function["arguments"]
    assert found.choices[0].finish_reason == "tool_calls"
    assert len(made.received) == 1


async def test_a_response(stage: Stage, ai: AsyncOpenAI) -> None:
    async with provider(answer(RESPONSES.whole)) as made:
        await stage.routes_to(made.url)

        reply = await ai.responses.create(model="fast", input="What is due?")
        counted = await ai.responses.create(
            model="fast", input="And then?", previous_response_id=reply.id
        )

    assert (reply.output_text, reply.status) == ("Hello", "completed")
    assert counted.id == "resp_1"
    assert made.received[0].json == {"model": "swift-1", "input": "What is due?"}
    assert made.received[1].json["previous_response_id"] == "resp_1"


async def test_a_stream_of_a_response(stage: Stage, ai: AsyncOpenAI) -> None:
    created, said, completed = RESPONSES.events
    place: dict[str, Any] = {"sequence_number": 1, "output_index": 0}
    item = {**OUTPUT[0], "status": "in_progress", "content": []}
    part = {"type": "output_text", "text": "", "annotations": []}
    begun = {"item_id": item["id"], "content_index": 0, "part": part}
    added = [
        event("response.output_item.added", **place, item=item),
        event("response.content_part.added", **place, **begun),
    ]
    async with provider(stream([created, *added, said, completed])) as made:
        await stage.routes_to(made.url)

        async with ai.responses.stream(model="fast", input="What is due?") as running:
            kinds = [each.type async for each in running]
            found = await running.get_final_response()
        raw = [
            each
            async for each in await ai.responses.create(
                model="fast", input="Hi", stream=True
            )
        ]

    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert found.output_text == "Hello"
    assert [each.sequence_number for each in raw] == [0, 1, 1, 1, 2]
    assert "stream_options" not in made.received[0].json
    assert len(made.received) == 2


async def test_embeddings(stage: Stage, ai: AsyncOpenAI) -> None:
    document = {
        "object": "list",
        "data": [{"object": "embedding", "index": 0, "embedding": [0.5, -1.0]}],
        "model": "swift-1",
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    }
    async with provider(answer(document)) as made:
        await stage.routes_to(made.url)

        reply = await ai.embeddings.create(
            model="small", input=["a"], encoding_format="float"
        )

    assert reply.data[0].embedding == [0.5, -1.0]
    (received,) = made.received
    assert received.target == "/v1/embeddings"


async def test_models_are_listed_and_read(stage: Stage, ai: AsyncOpenAI) -> None:
    async with provider(answer(CHAT.whole)) as made:
        await stage.routes_to(made.url)

        listed = [each async for each in ai.models.list()]
        read = await ai.models.retrieve("swift-1")
        with pytest.raises(openai.NotFoundError) as caught:
            await ai.models.retrieve("another")

    assert [each.id for each in listed] == ["swift-1"]
    assert read == listed[0]
    assert (read.object, read.owned_by) == ("model", "acme")
    assert caught.value.code == "model_not_found"
    assert made.received == []


async def test_a_limited_call_is_sent_again_as_the_provider_says(
    stage: Stage, ai: AsyncOpenAI
) -> None:
    limited = answer(LIMITED, "429 Too Many Requests", RETRY_SOON)
    async with provider(limited, answer(CHAT.whole)) as made:
        await stage.routes_to(made.url, fall_back_on=[])

        reply = await ai.chat.completions.create(model="fast", messages=MESSAGES)

    assert reply.choices[0].message.content == "Hello"
    assert len(made.received) == 2


async def test_a_limit_that_stays_arrives_as_the_provider_says_it(
    stage: Stage, ai: AsyncOpenAI
) -> None:
    async with provider(answer(LIMITED, "429 Too Many", RETRY_SOON)) as made:
        await stage.routes_to(made.url, fall_back_on=[])

        with pytest.raises(openai.RateLimitError) as caught:
            await ai.chat.completions.create(model="fast", messages=MESSAGES)

    assert caught.value.body == LIMITED["error"]
    assert caught.value.response.headers["retry-after"] == "0"
    assert len(made.received) == 1 + RETRIES


async def test_a_provider_may_say_that_a_limit_stays(
    stage: Stage, ai: AsyncOpenAI
) -> None:
    final = RETRY_SOON + b"x-should-retry: false\r\n"
    async with provider(answer(LIMITED, "429 Too Many", final)) as made:
        await stage.routes_to(made.url, fall_back_on=[])

        with pytest.raises(openai.RateLimitError):
            await ai.chat.completions.create(model="fast", messages=MESSAGES)

    assert len(made.received) == 1


async def test_what_a_provider_refuses_arrives_once(
    stage: Stage, ai: AsyncOpenAI
) -> None:
    refusal = {"error": {"message": "no such tool", "type": "invalid_request_error"}}
    async with provider(answer(refusal, "400 Bad Request")) as made:
        await stage.routes_to(made.url)

        with pytest.raises(openai.BadRequestError) as caught:
            await ai.chat.completions.create(model="fast", messages=MESSAGES)

    assert caught.value.body == refusal["error"]
    assert len(made.received) == 1


async def test_what_the_gateway_refuses_is_sent_once(
    stage: Stage, ai: AsyncOpenAI
) -> None:
    asked = []

    async def note(request: object) -> None:
        asked.append(request)

    ai._client.event_hooks["request"].append(note)  # noqa: SLF001 # has no other

    with pytest.raises(openai.NotFoundError) as unknown:
        await ai.chat.completions.create(model="fast", messages=MESSAGES)
    with pytest.raises(openai.AuthenticationError) as refused:
        await ai.with_options(api_key="agt_wrong").responses.create(
            model="fast", input="Hi"
        )
    with pytest.raises(openai.NotFoundError) as elsewhere:
        await ai.responses.retrieve("resp_1")

    assert unknown.value.code == "model_not_found"
    assert refused.value.code == "invalid_api_key"
    assert elsewhere.value.code == "no_such_path"
    assert len(asked) == 3
