"""OpenAI's chat completions: an answer as a document, and as chunks of a stream."""

import json
from collections.abc import Iterator
from typing import Any, Final

from tests.instruments.model_clients.scenarios import MODEL, Answer, arguments

ERROR: Final = {
    "error": {
        "message": "The server had an error, for the moment",
        "type": "server_error",
        "param": None,
        "code": None,
    }
}
COMMON: Final = {"id": "chatcmpl-01", "created": 1_790_000_000, "model": MODEL}


def tools(body: Any) -> list[str]:
    return [each["function"]["name"] for each in body.get("tools") or ()]


def has_results(body: Any) -> bool:
    return any(message["role"] == "tool" for message in body["messages"])


def error(status: int) -> Any:
    code = "rate_limit_exceeded" if status == 429 else "overloaded"
    named = {"message": f"status {status}", "type": "requests", "code": code}
    return {"error": {**named, "param": None}}


def document(answer: Answer, tool: str) -> Any:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    message["refusal"] = answer.refusal or None
    if answer.thinking:
        message["reasoning_content"] = answer.thinking
    if answer.calls:
        message["tool_calls"] = _calls(answer, tool)
    choice = {"index": 0, "message": message, "finish_reason": _reason(answer)}
    return {
        **COMMON,
        "object": "chat.completion",
        "choices": [{**choice, "logprobs": None}],
        "usage": _usage(answer),
        "service_tier": "default",
    }


def chunks(answer: Answer, tool: str, *, with_usage: bool) -> Iterator[bytes]:
    """Yield chunks; a provider adds usage only where it is asked for."""
    common = {**COMMON, "object": "chat.completion.chunk"}
    if with_usage:
        common["usage"] = None
    for delta in _deltas(answer, tool):
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
        yield _chunk({**common, "choices": [choice]})
    last = {"index": 0, "delta": {}, "logprobs": None, "finish_reason": _reason(answer)}
    yield _chunk({**common, "choices": [last]})
    if with_usage:
        yield _chunk({**common, "choices": [], "usage": _usage(answer)})
    yield b"data: [DONE]\n\n"


def error_event() -> bytes:
    return _chunk(ERROR)


def _deltas(answer: Answer, tool: str) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": "", "refusal": None}
    if answer.thinking:
        yield {"reasoning_content": answer.thinking}
    for name in ("text", "refusal"):
        text = getattr(answer, name)
        middle = len(text) // 2
        for half in filter(None, (text[:middle], text[middle:])):
            yield {"content" if name == "text" else name: half}
    for index, call in enumerate(_calls(answer, tool)):
        given = call["function"]["arguments"]
        begun = {"name": tool, "arguments": ""}
        yield {"tool_calls": [{**call, "index": index, "function": begun}]}
        for half in (given[:4], given[4:]):
            rest = {"index": index, "function": {"arguments": half}}
            yield {"tool_calls": [rest]}


def _calls(answer: Answer, tool: str) -> list[dict[str, Any]]:
    return [
        {
            "id": call.id,
            "type": "function",
            "function": {
                "name": tool,
                "arguments": json.dumps(arguments(tool, call.number)),
            },
        }
        for call in answer.calls
    ]


def _reason(answer: Answer) -> str:
    return "tool_calls" if answer.calls else "stop"


def _usage(answer: Answer) -> dict[str, Any]:
    usage = answer.usage
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.read, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def _chunk(document: Any) -> bytes:
    return f"data: {json.dumps(document, ensure_ascii=False)}\n\n".encode()
