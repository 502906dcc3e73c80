"""The providers' own clients. Runs in the clients' environment.

Each appends to ``said`` all that it gets: every event of a stream, whole.
"""

# mypy: ignore-errors

import json
from typing import Any

from tests.instruments.model_clients.asking import Place
from tests.instruments.model_clients.scenarios import MODEL, PICTURE, prompt

SCHEMA = {
    "type": "object",
    "properties": {"first": {"type": "number"}, "second": {"type": "number"}},
}
TOOL = {"name": "add", "description": "Adds.", "parameters": SCHEMA}
WITH_TOOLS = ("tools", "parallel_tools", "thinking_tools")
ANTHROPIC_OPTIONS: dict[str, Any] = {"model": MODEL, "max_tokens": 4000}


def _dumped(model: Any) -> Any:
    return json.loads(model.to_json()) | {"request_id": model._request_id}  # noqa: SLF001 # documented


def _openai(place: Place) -> Any:
    from openai import OpenAI

    return OpenAI(api_key=place.key, base_url=place.openai, **place.limits)


def _chat_asked(place: Place) -> dict[str, Any]:
    text = {"type": "text", "text": prompt(place.scenario)}
    picture = {"url": f"data:image/png;base64,{PICTURE}"}
    with_picture = [text, {"type": "image_url", "image_url": picture}]
    content = with_picture if place.scenario == "images" else text["text"]
    asked = {"model": MODEL, "messages": [{"role": "user", "content": content}]}
    if place.scenario in WITH_TOOLS:
        asked["tools"] = [{"type": "function", "function": TOOL}]
    return asked


def openai_chat(place: Place, said: list[Any]) -> None:
    asked = _chat_asked(place)
    with _openai(place) as client:
        while True:
            answer = client.chat.completions.create(**asked)
            said.append(_dumped(answer))
            message = answer.choices[0].message
            if not message.tool_calls:
                return
            asked["messages"].append(message.to_dict())
            for call in message.tool_calls:
                result = {"tool_call_id": call.id, "content": "20"}
                asked["messages"].append({"role": "tool", **result})


def openai_chat_streamed(place: Place, said: list[Any]) -> None:
    """Ask for usage, as most agents do."""
    options = {"include_usage": True}
    _stream_chat(place, said, {**_chat_asked(place), "stream_options": options})


def openai_chat_streamed_without_usage(place: Place, said: list[Any]) -> None:
    _stream_chat(place, said, _chat_asked(place))


def _stream_chat(place: Place, said: list[Any], asked: dict[str, Any]) -> None:
    with _openai(place) as client:
        while True:
            calls: dict[int, Any] = {}
            for chunk in client.chat.completions.create(**asked, stream=True):
                said.append(json.loads(chunk.to_json()))
                for choice in chunk.choices:
                    _add_calls(calls, choice.delta.tool_calls or ())
            if not calls:
                return
            said_so = {"role": "assistant", "tool_calls": [*calls.values()]}
            asked["messages"].append(said_so)
            for call in calls.values():
                result = {"tool_call_id": call["id"], "content": "20"}
                asked["messages"].append({"role": "tool", **result})


def _add_calls(calls: dict[int, Any], parts: Any) -> None:
    for part in parts:
        named = {"name": part.function.name, "arguments": ""}
        begun = {"id": part.id, "type": "function", "function": named}
        call = calls.setdefault(part.index, begun)
        call["function"]["arguments"] += part.function.arguments or ""


def _response_asked(place: Place) -> dict[str, Any]:
    content = [{"type": "input_text", "text": prompt(place.scenario)}]
    if place.scenario == "images":
        picture = f"data:image/png;base64,{PICTURE}"
        content.append({"type": "input_image", "image_url": picture})
    asked = {"model": MODEL, "input": [{"role": "user", "content": content}]}
    if place.scenario in WITH_TOOLS:
        asked["tools"] = [{"type": "function", "strict": False, **TOOL}]
    return {**asked, "store": False, "include": ["reasoning.encrypted_content"]}


def openai_responses(place: Place, said: list[Any]) -> None:
    asked = _response_asked(place)
    with _openai(place) as client:
        while True:
            response = client.responses.create(**asked)
            said.append(_dumped(response))
            if not _go_on(asked, response):
                return


def openai_responses_streamed(place: Place, said: list[Any]) -> None:
    asked, response = _response_asked(place), None
    with _openai(place) as client:
        while True:
            with client.responses.stream(**asked) as stream:
                said.extend(json.loads(event.to_json()) for event in stream)
                response = stream.get_final_response()
            if not _go_on(asked, response):
                return


def _go_on(asked: dict[str, Any], response: Any) -> bool:
    """Add what a response says, and the results of its calls, if it has any."""
    calls = [each for each in response.output if each.type == "function_call"]
    asked["input"] += [each.to_dict() for each in response.output]
    for call in calls:
        result = {"call_id": call.call_id, "output": "20"}
        asked["input"].append({"type": "function_call_output", **result})
    return bool(calls)


def _anthropic(place: Place) -> Any:
    from anthropic import Anthropic

    return Anthropic(api_key=place.key, base_url=place.anthropic, **place.limits)


def _message_asked(place: Place) -> dict[str, Any]:
    content: list[Any] = [{"type": "text", "text": prompt(place.scenario)}]
    if place.scenario == "images":
        source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
        content.append({"type": "image", "source": source})
    if place.scenario == "caches":
        content[0]["cache_control"] = {"type": "ephemeral"}
    asked = {**ANTHROPIC_OPTIONS, "messages": [{"role": "user", "content": content}]}
    if place.scenario.startswith("thinking"):
        asked["thinking"] = {"type": "enabled", "budget_tokens": 2000}
    if place.scenario in WITH_TOOLS:
        asked["tools"] = [{"name": "add", "input_schema": SCHEMA}]
    return asked


def anthropic(place: Place, said: list[Any]) -> None:
    asked = _message_asked(place)
    with _anthropic(place) as client:
        counted = {name: asked[name] for name in ("model", "messages")}
        # Elsewhere the first request is refused.
        if place.scenario == "text":
            said.append(_dumped(client.messages.count_tokens(**counted)))
        while True:
            message = client.messages.create(**asked)
            said.append(_dumped(message))
            if not _answer_calls(asked, message):
                return


def anthropic_streamed(place: Place, said: list[Any]) -> None:
    asked = _message_asked(place)
    with _anthropic(place) as client:
        while True:
            with client.messages.stream(**asked) as stream:
                said.extend(json.loads(event.to_json()) for event in stream)
                message = stream.get_final_message()
            if not _answer_calls(asked, message):
                return


def _answer_calls(asked: dict[str, Any], message: Any) -> bool:
    content = [json.loads(each.to_json()) for each in message.content]
    asked["messages"].append({"role": "assistant", "content": content})
    results = [
        {"type": "tool_result", "tool_use_id": each.id, "content": "20"}
        for each in message.content
        if each.type == "tool_use"
    ]
    asked["messages"].append({"role": "user", "content": results})
    return bool(results)


CLIENTS = {
    each.__name__: each
    for each in (
        openai_chat,
        openai_chat_streamed,
        openai_chat_streamed_without_usage,
        openai_responses,
        openai_responses_streamed,
        anthropic,
        anthropic_streamed,
    )
}
