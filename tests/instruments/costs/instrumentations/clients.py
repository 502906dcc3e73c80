"""Ask the scripted providers through each client, in an instrumentation's environment.

A client's function takes the provider's URL, a case, a question and whether the answer
is streamed, and returns the answer.
"""

# mypy: ignore-errors

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from tests.instruments.costs.instrumentations.cases import CASES
from tests.instruments.costs.instrumentations.provider import model_of

KEY = "none"
ANTHROPIC_SEARCH = {"type": "web_search_20250305", "name": "web_search"}
OPENAI_SEARCH = {"type": "web_search"}
REGION = "us-east-1"


def _tier(case: str) -> dict[str, Any]:
    """Return how a call asks OpenAI for a tier."""
    tier = CASES[case].tier
    return {"service_tier": tier} if tier in ("flex", "priority") else {}


def _openai(url: str, case: str, question: str, *, stream: bool) -> str:
    from openai import OpenAI

    asked: Any = {
        "model": model_of("chat", case),
        "messages": [{"role": "user", "content": question}],
        **_tier(case),
    }
    with OpenAI(api_key=KEY, base_url=f"{url}/v1") as client:
        if not stream:
            answer = client.chat.completions.create(**asked)
            return answer.choices[0].message.content
        chunks = client.chat.completions.create(
            **asked, stream=True, stream_options={"include_usage": True}
        )
        return "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)


def _responses(url: str, case: str, question: str, *, stream: bool) -> str:
    from openai import OpenAI

    asked: Any = {
        "model": model_of("responses", case),
        "input": question,
        **_tier(case),
        **({"tools": [OPENAI_SEARCH]} if case == "search" else {}),
    }
    with OpenAI(api_key=KEY, base_url=f"{url}/v1") as client:
        if not stream:
            return client.responses.create(**asked).output_text
        return "".join(
            event.delta
            for event in client.responses.create(**asked, stream=True)
            if event.type == "response.output_text.delta"
        )


def _anthropic(url: str, case: str, question: str, *, stream: bool) -> str:
    from anthropic import Anthropic

    asked: Any = {
        "model": model_of("anthropic", case),
        "max_tokens": 100,
        "messages": [{"role": "user", "content": question}],
        **({"tools": [ANTHROPIC_SEARCH]} if case == "search" else {}),
    }
    with Anthropic(api_key=KEY, base_url=url) as client:
        if not stream:
            return client.messages.create(**asked).content[0].text
        return "".join(
            event.delta.text
            for event in client.messages.create(**asked, stream=True)
            if event.type == "content_block_delta"
        )


def _google(url: str, case: str, question: str, *, stream: bool) -> str:
    from google import genai
    from google.genai import types

    client = genai.Client(
        api_key=KEY, vertexai=False, http_options=types.HttpOptions(base_url=url)
    )
    asked: Any = {"model": model_of("google", case), "contents": question}
    if case == "search":
        tools = [types.Tool(google_search=types.GoogleSearch())]
        asked["config"] = types.GenerateContentConfig(tools=tools)
    if not stream:
        return client.models.generate_content(**asked).text
    return "".join(c.text or "" for c in client.models.generate_content_stream(**asked))


def _bedrock(url: str, case: str, question: str, *, stream: bool) -> str:
    import boto3

    client = boto3.client(
        "bedrock-runtime",
        region_name=REGION,
        endpoint_url=url,
        aws_access_key_id=KEY,
        aws_secret_access_key=KEY,
    )
    asked: Any = {
        "modelId": model_of("bedrock", case),
        "messages": [{"role": "user", "content": [{"text": question}]}],
    }
    if not stream:
        answer = client.converse(**asked)
        return answer["output"]["message"]["content"][0]["text"]
    return "".join(
        event["contentBlockDelta"]["delta"]["text"]
        for event in client.converse_stream(**asked)["stream"]
        if "contentBlockDelta" in event
    )


def _chain(model: Any, question: str, *, stream: bool) -> str:
    from langchain_core.messages import HumanMessage

    asked = [HumanMessage(question)]
    if not stream:
        return model.invoke(asked).text
    return "".join(chunk.text for chunk in model.stream(asked))


def _chat_openai(url: str, case: str) -> Any:
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(
        model=model_of("chat", case),
        base_url=f"{url}/v1",
        api_key=KEY,
        stream_usage=True,
        **_tier(case),
    )


def _langchain_openai(url: str, case: str, question: str, *, stream: bool) -> str:
    return _chain(_chat_openai(url, case), question, stream=stream)


def _langchain_responses(url: str, case: str, question: str, *, stream: bool) -> str:
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(
        model=model_of("responses", case),
        base_url=f"{url}/v1",
        api_key=KEY,
        use_responses_api=True,
        **_tier(case),
    )
    if case == "search":
        model = model.bind_tools([OPENAI_SEARCH])
    return _chain(model, question, stream=stream)


def _langchain_anthropic(url: str, case: str, question: str, *, stream: bool) -> str:
    from langchain_anthropic import ChatAnthropic

    model = ChatAnthropic(model=model_of("anthropic", case), base_url=url, api_key=KEY)
    if case == "search":
        model = model.bind_tools([ANTHROPIC_SEARCH])
    return _chain(model, question, stream=stream)


def _langchain_google(url: str, case: str, question: str, *, stream: bool) -> str:
    from langchain_google_genai import ChatGoogleGenerativeAI

    model = ChatGoogleGenerativeAI(
        model=model_of("google", case), base_url=url, api_key=KEY, vertexai=False
    )
    return _chain(model, question, stream=stream)


def _langgraph(url: str, case: str, question: str, *, stream: bool) -> str:
    from langchain.agents import create_agent

    def today() -> str:
        """Return the date."""
        return "2026-11-20"

    agent = create_agent(_chat_openai(url, case), [today])
    asked = {"messages": [{"role": "user", "content": question}]}
    if not stream:
        return agent.invoke(asked)["messages"][-1].text
    *_, last = agent.stream(asked, stream_mode="values")
    return last["messages"][-1].text


def _agents(
    url: str, case: str, question: str, *, stream: bool, api: str = "responses"
) -> str:
    from agents import (
        Agent,
        ModelSettings,
        OpenAIChatCompletionsModel,
        OpenAIResponsesModel,
        Runner,
        function_tool,
    )
    from openai import AsyncOpenAI

    @function_tool
    def today() -> str:
        """Return the date."""
        return "2026-11-20"

    kind = OpenAIResponsesModel if api == "responses" else OpenAIChatCompletionsModel

    async def ask() -> str:
        async with AsyncOpenAI(api_key=KEY, base_url=f"{url}/v1") as client:
            agent = Agent(
                name="helper",
                model=kind(model=model_of(api, case), openai_client=client),
                tools=[today],
                model_settings=ModelSettings(
                    include_usage=True, extra_args=_tier(case)
                ),
            )
            if not stream:
                return (await Runner.run(agent, question)).final_output
            run = Runner.run_streamed(agent, question)
            async for _ in run.stream_events():
                pass
            return run.final_output

    return asyncio.run(ask())


def _litellm(
    url: str, case: str, question: str, *, stream: bool, api: str = "chat"
) -> str:
    return asyncio.run(_litellm_async(url, case, question, stream=stream, api=api))


PREFIXES = {
    "chat": "openai",
    "anthropic": "anthropic",
    "google": "gemini",
    "bedrock": "bedrock/converse",
}


async def _litellm_async(
    url: str, case: str, question: str, *, stream: bool, api: str
) -> str:
    import litellm
    from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER
    from opentelemetry.trace import get_current_span

    model = model_of(api, case)
    asked: Any = {
        "model": f"{PREFIXES[api]}/{model}",
        "messages": [{"role": "user", "content": question}],
        "api_base": f"{url}/v1" if api == "chat" else url,
        "api_key": KEY,
        # Its spans are written later, when there is no current span.
        "metadata": {"litellm_parent_otel_span": get_current_span()},
        **(_tier(case) if api == "chat" else {}),
    }
    if api == "google":
        asked["api_base"] = f"{url}/v1beta/models/{model}"
    if api == "bedrock":
        asked.pop("api_key")
        asked |= {
            "aws_region_name": REGION,
            "aws_access_key_id": KEY,
            "aws_secret_access_key": KEY,
            "aws_bedrock_runtime_endpoint": url,
        }
        asked.pop("api_base")
    if case == "search":
        asked["tools"] = [ANTHROPIC_SEARCH] if api == "anthropic" else []
        asked = {key: value for key, value in asked.items() if value != []}
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


def _pydantic_ai(
    url: str, case: str, question: str, *, stream: bool, api: str = "chat"
) -> str:
    from pydantic_ai import Agent

    settings = {f"openai_{key}": value for key, value in _tier(case).items()}
    agent = Agent(
        _pydantic_model(url, case, api), name="helper", model_settings=settings or None
    )
    if not stream:
        return agent.run_sync(question).output
    with agent.run_stream_sync(question) as result:
        return "".join(result.stream_text(delta=True))


def _pydantic_model(url: str, case: str, api: str) -> Any:
    model = model_of(api, case)
    if api in ("chat", "responses"):
        from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
        from pydantic_ai.providers.openai import OpenAIProvider

        kind = OpenAIChatModel if api == "chat" else OpenAIResponsesModel
        return kind(model, provider=OpenAIProvider(base_url=f"{url}/v1", api_key=KEY))
    if api == "anthropic":
        from anthropic import AsyncAnthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        client = AsyncAnthropic(api_key=KEY, base_url=url)
        return AnthropicModel(
            model, provider=AnthropicProvider(anthropic_client=client)
        )
    if api == "google":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        return GoogleModel(model, provider=GoogleProvider(api_key=KEY, base_url=url))
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    provider = BedrockProvider(
        region_name=REGION,
        base_url=url,
        aws_access_key_id=KEY,
        aws_secret_access_key=KEY,
    )
    return BedrockConverseModel(model, provider=provider)


CLIENTS: dict[str, Callable[..., str]] = {
    "openai": _openai,
    "responses": _responses,
    "anthropic": _anthropic,
    "google": _google,
    "bedrock": _bedrock,
    "langchain_openai": _langchain_openai,
    "langchain_responses": _langchain_responses,
    "langchain_anthropic": _langchain_anthropic,
    "langchain_google": _langchain_google,
    "langgraph": _langgraph,
    "agents_responses": _agents,
    "agents_chat": partial(_agents, api="chat"),
    "litellm_openai": _litellm,
    "litellm_anthropic": partial(_litellm, api="anthropic"),
    "litellm_google": partial(_litellm, api="google"),
    "litellm_bedrock": partial(_litellm, api="bedrock"),
    "pydantic_ai_openai": _pydantic_ai,
    "pydantic_ai_responses": partial(_pydantic_ai, api="responses"),
    "pydantic_ai_anthropic": partial(_pydantic_ai, api="anthropic"),
    "pydantic_ai_google": partial(_pydantic_ai, api="google"),
    "pydantic_ai_bedrock": partial(_pydantic_ai, api="bedrock"),
}
