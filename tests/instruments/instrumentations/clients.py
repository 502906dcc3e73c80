"""Ask the fake provider through each client. Runs in the instrumentations' environment.

A client's function takes the provider's URL, a question and whether the answer is
streamed, and returns the answer. What stands in front of the answer, such as an
embedding of the question, is part of it.
"""

# mypy: ignore-errors

import asyncio
from collections.abc import Callable
from typing import Any

from tests.instruments.instrumentations.provider import (
    ANTHROPIC_MODEL,
    EMBEDDING_MODEL,
    OPENAI_MODEL,
)

KEY = "none"


def _openai(url: str, question: str, *, stream: bool) -> str:
    from openai import OpenAI

    messages = [{"role": "user", "content": question}]
    with OpenAI(api_key=KEY, base_url=f"{url}/v1") as client:
        if not stream:
            client.embeddings.create(model=EMBEDDING_MODEL, input=question)
            answer = client.chat.completions.create(
                model=OPENAI_MODEL, messages=messages
            )
            return answer.choices[0].message.content
        chunks = client.chat.completions.create(
            model=OPENAI_MODEL,
            messages=messages,
            stream=True,
            stream_options={"include_usage": True},
        )
        return "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)


def _anthropic(url: str, question: str, *, stream: bool) -> str:
    from anthropic import Anthropic

    asked: Any = {
        "model": ANTHROPIC_MODEL,
        "max_tokens": 100,
        "messages": [{"role": "user", "content": question}],
    }
    with Anthropic(api_key=KEY, base_url=url) as client:
        if not stream:
            return client.messages.create(**asked).content[0].text
        return "".join(
            event.delta.text
            for event in client.messages.create(**asked, stream=True)
            if event.type == "content_block_delta"
        )


def _langchain(model: Any, question: str, *, stream: bool) -> str:
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.prompts import ChatPromptTemplate

    template = ChatPromptTemplate.from_messages(
        [("system", "You help."), ("user", "{question}")]
    )
    chain = template | model | StrOutputParser()
    if not stream:
        return chain.invoke({"question": question})
    return "".join(chain.stream({"question": question}))


def _litellm(url: str, question: str, *, stream: bool) -> str:
    return asyncio.run(_litellm_async(url, question, stream=stream))


async def _litellm_async(url: str, question: str, *, stream: bool) -> str:
    import litellm
    from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER
    from opentelemetry.trace import get_current_span

    asked: Any = {
        "model": f"openai/{OPENAI_MODEL}",
        "messages": [{"role": "user", "content": question}],
        "api_base": f"{url}/v1",
        "api_key": KEY,
        # Its spans are written later, when there is no current span.
        "metadata": {"litellm_parent_otel_span": get_current_span()},
    }
    if not stream:
        answer = (await litellm.acompletion(**asked)).choices[0].message.content
    else:
        answer = ""
        async for chunk in await litellm.acompletion(
            **asked, stream=True, stream_options={"include_usage": True}
        ):
            if chunk.choices:
                answer += chunk.choices[0].delta.content or ""
    await GLOBAL_LOGGING_WORKER.flush()
    return answer


def _pydantic_ai(url: str, question: str, *, stream: bool) -> str:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=f"{url}/v1", api_key=KEY)
    model = OpenAIChatModel(OPENAI_MODEL, provider=provider)
    agent = Agent(model, name="helper")
    if not stream:
        return agent.run_sync(question).output
    with agent.run_stream_sync(question) as result:
        return "".join(result.stream_text(delta=True))


def _by_hand(url: str, question: str, *, stream: bool) -> str:
    """Ask as a framework does that writes its spans with OpenTelemetry's utilities."""
    import httpx
    from opentelemetry.util.genai.handler import get_telemetry_handler
    from opentelemetry.util.genai.types import InputMessage, OutputMessage, TextPart

    handler = get_telemetry_handler()
    with handler.inference("anthropic", request_model=ANTHROPIC_MODEL) as call:
        call.input_messages = [InputMessage(role="user", parts=[TextPart(question)])]
        asked = {"messages": [{"role": "user", "content": question}]}
        answer = httpx.post(f"{url}/v1/messages", json=asked).json()
        text, usage = answer["content"][0]["text"], answer["usage"]
        call.output_messages = [
            OutputMessage(
                role="assistant", parts=[TextPart(text)], finish_reason="stop"
            )
        ]
        call.response_id = answer["id"]
        call.response_model_name = answer["model"]
        read, written = (
            usage["cache_read_input_tokens"],
            usage["cache_creation_input_tokens"],
        )
        call.input_tokens = usage["input_tokens"] + read + written
        call.output_tokens = usage["output_tokens"]
        call.cache_read_input_tokens = read
        call.cache_write_input_tokens = written
    return text


def _langchain_openai(url: str, question: str, *, stream: bool) -> str:
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(
        model=OPENAI_MODEL, base_url=f"{url}/v1", api_key=KEY, stream_usage=True
    )
    return _langchain(model, question, stream=stream)


def _langchain_anthropic(url: str, question: str, *, stream: bool) -> str:
    from langchain_anthropic import ChatAnthropic

    model = ChatAnthropic(model=ANTHROPIC_MODEL, base_url=url, api_key=KEY)
    return _langchain(model, question, stream=stream)


CLIENTS: dict[str, Callable[..., str]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "langchain_openai": _langchain_openai,
    "langchain_anthropic": _langchain_anthropic,
    "litellm": _litellm,
    "pydantic_ai": _pydantic_ai,
    "by_hand": _by_hand,
}
