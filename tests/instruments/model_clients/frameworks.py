"""Frameworks that agents are built with. Runs in the clients' environment."""

# mypy: ignore-errors

import asyncio
import dataclasses
import json
from pathlib import Path
from typing import Any

from tests.instruments.model_clients.asking import Place
from tests.instruments.model_clients.scenarios import MODEL, PICTURE, prompt
from tests.instruments.model_clients.sdks import TOOL, WITH_TOOLS


def _add(first: float, second: float) -> str:
    """Add."""
    return f"{first + second}"


def langchain_openai(place: Place, said: list[Any]) -> None:
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(
        model=MODEL, base_url=place.openai, api_key=place.key, **place.limits
    )
    _langchain(model, place, said)


def langchain_openai_responses(place: Place, said: list[Any]) -> None:
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(
        model=MODEL,
        base_url=place.openai,
        api_key=place.key,
        use_responses_api=True,
        store=False,
        include=["reasoning.encrypted_content"],
        **place.limits,
    )
    _langchain(model, place, said)


def langchain_anthropic(place: Place, said: list[Any]) -> None:
    from langchain_anthropic import ChatAnthropic

    thinking = {"type": "enabled", "budget_tokens": 2000}
    model = ChatAnthropic(
        model=MODEL,
        base_url=place.anthropic,
        api_key=place.key,
        max_tokens=4000,
        thinking=thinking if place.scenario.startswith("thinking") else None,
        **place.limits,
    )
    _langchain(model, place, said)


def _langchain(model: Any, place: Place, said: list[Any]) -> None:
    """Ask by a stream, and go on until no tool is called."""
    from langchain_core.messages import HumanMessage, ToolMessage

    content = [{"type": "text", "text": prompt(place.scenario)}]
    if place.scenario == "images":
        picture = {"base64": PICTURE, "mime_type": "image/png"}
        content.append({"type": "image", **picture})
    messages = [HumanMessage(content)]
    if place.scenario in WITH_TOOLS:
        model = model.bind_tools([{"type": "function", "function": TOOL}])
    while True:
        whole = None
        for chunk in model.stream(messages):
            said.append(chunk.model_dump(mode="json"))
            whole = chunk if whole is None else whole + chunk
        if not whole.tool_calls:
            said.append(model.invoke(messages).model_dump(mode="json"))
            return
        messages.append(whole)
        messages += [ToolMessage("20", tool_call_id=x["id"]) for x in whole.tool_calls]


def _pydantic_ai(model: Any, place: Place, said: list[Any]) -> None:
    from pydantic_ai import Agent, BinaryContent

    agent = Agent(model, model_settings={"max_tokens": 4000})
    if place.scenario in WITH_TOOLS:
        agent.tool_plain(_add, name="add")
    asked: list[Any] = [prompt(place.scenario)]
    if place.scenario == "images":
        from base64 import b64decode

        asked.append(BinaryContent(b64decode(PICTURE), media_type="image/png"))
    result = agent.run_sync(asked)
    said.append(json.loads(result.all_messages_json()))
    with agent.run_stream_sync(asked) as streamed:
        said.extend(streamed.stream_text(delta=True, debounce_by=None))
        said.append(json.loads(streamed.all_messages_json()))


def pydantic_ai_openai(place: Place, said: list[Any]) -> None:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(api_key=place.key, base_url=place.openai, **place.limits)
    provider = OpenAIProvider(openai_client=client)
    _pydantic_ai(OpenAIChatModel(MODEL, provider=provider), place, said)


def claude_agent_sdk(place: Place, said: list[Any]) -> None:
    asyncio.run(_claude_agent_sdk(place, said))


async def _claude_agent_sdk(place: Place, said: list[Any]) -> None:
    from claude_agent_sdk import ClaudeAgentOptions, query

    environment = {
        "ANTHROPIC_BASE_URL": place.anthropic,
        "ANTHROPIC_AUTH_TOKEN": place.key,
        "CLAUDE_CODE_MAX_RETRIES": "2",
    }
    options = ClaudeAgentOptions(model=MODEL, cwd=Path.home(), env=environment)
    content: list[Any] = [{"type": "text", "text": prompt(place.scenario)}]
    if place.scenario == "images":
        source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
        content.append({"type": "image", "source": source})

    async def asked() -> Any:
        yield {"type": "user", "message": {"role": "user", "content": content}}

    async for each in query(prompt=asked(), options=options):
        named = {type(each).__name__: dataclasses.asdict(each)}
        said.append(named)


def litellm_openai(place: Place, said: list[Any]) -> None:
    _litellm(place, said, model=f"openai/{MODEL}", api_base=place.openai)


def litellm_anthropic(place: Place, said: list[Any]) -> None:
    _litellm(place, said, model=f"anthropic/{MODEL}", api_base=place.anthropic)


def _litellm(place: Place, said: list[Any], **to: str) -> None:
    import litellm

    litellm.suppress_debug_info = True
    content: list[Any] = [{"type": "text", "text": prompt(place.scenario)}]
    if place.scenario == "images":
        picture = {"url": f"data:image/png;base64,{PICTURE}"}
        content.append({"type": "image_url", "image_url": picture})
    messages: list[Any] = [{"role": "user", "content": content}]
    asked: dict[str, Any] = {**to, "api_key": place.key, "max_tokens": 4000}
    asked |= place.limits
    if place.scenario in WITH_TOOLS:
        asked["tools"] = [{"type": "function", "function": TOOL}]
    while True:
        answer = litellm.completion(**asked, messages=messages)
        said.append(answer.model_dump(mode="json"))
        message = answer.choices[0].message
        if not message.tool_calls:
            break
        messages.append(message.model_dump(mode="json", exclude_none=True))
        for call in message.tool_calls:
            result = {"tool_call_id": call.id, "content": "20"}
            messages.append({"role": "tool", **result})
    options = {"stream": True, "stream_options": {"include_usage": True}}
    chunks = litellm.completion(**asked, messages=messages, **options)
    said.extend(chunk.model_dump(mode="json") for chunk in chunks)


CLIENTS = {
    each.__name__: each
    for each in (
        langchain_openai,
        langchain_openai_responses,
        langchain_anthropic,
        pydantic_ai_openai,
        claude_agent_sdk,
        litellm_openai,
        litellm_anthropic,
    )
}
