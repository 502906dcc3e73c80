"""OpenAI's responses: an answer as a document, and as events of a stream."""

import json
from collections.abc import Iterator
from itertools import count
from typing import Any, Final

from tests.instruments.model_clients.scenarios import MODEL, Answer, arguments

RESPONSE: Final = {
    "id": "resp_01",
    "object": "response",
    "created_at": 1_790_000_000,
    "status": "in_progress",
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {},
    "model": MODEL,
    "output": [],
    "parallel_tool_calls": True,
    "temperature": 1.0,
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "usage": None,
}
ENCRYPTED: Final = "ZW5jcnlwdGVk" * 20
ERROR: Final = {"code": "server_error", "message": "An error, for the moment"}


def tools(body: Any) -> list[str]:
    return [each["name"] for each in body.get("tools") or () if "name" in each]


def has_results(body: Any) -> bool:
    return any(
        isinstance(item, dict) and item.get("type") == "function_call_output"
        for item in body["input"]
    )


def error(status: int) -> Any:
    code = "rate_limit_exceeded" if status == 429 else "overloaded"
    named = {"message": f"status {status}", "type": "requests", "code": code}
    return {"error": {**named, "param": None}}


def document(answer: Answer, tool: str) -> Any:
    output = [_item(each, "completed") for each in _items(answer, tool)]
    whole = {**RESPONSE, "status": "completed", "output": output}
    return {**whole, "usage": _usage(answer)}


def events(answer: Answer, tool: str) -> Iterator[bytes]:
    numbers = count()

    def event(kind: str, **members: Any) -> bytes:
        found = {"type": kind, "sequence_number": next(numbers), **members}
        data = json.dumps(found, ensure_ascii=False)
        return f"event: {kind}\ndata: {data}\n\n".encode()

    yield event("response.created", response=RESPONSE)
    yield event("response.in_progress", response=RESPONSE)
    for index, item in enumerate(_items(answer, tool)):
        place = {"output_index": index, "item_id": item["id"]}
        begun = _item(item, "in_progress")
        yield event("response.output_item.added", output_index=index, item=begun)
        for kind, members in _deltas(item):
            yield event(f"response.{kind}", **place, **members)
        done = _item(item, "completed")
        yield event("response.output_item.done", output_index=index, item=done)
    yield event("response.completed", response=document(answer, tool))


def error_event() -> bytes:
    """Return the event by which a response fails."""
    failed = {**RESPONSE, "status": "failed", "error": ERROR}
    event = {"type": "response.failed", "sequence_number": 99, "response": failed}
    return b"event: response.failed\ndata: %b\n\n" % json.dumps(event).encode()


def _items(answer: Answer, tool: str) -> Iterator[dict[str, Any]]:
    if answer.thinking:
        summary = [{"type": "summary_text", "text": answer.thinking}]
        thought = {"summary": summary, "encrypted_content": ENCRYPTED}
        yield {"id": "rs_01", "type": "reasoning", **thought}
    part: dict[str, Any] = {"type": "output_text", "text": answer.text}
    part |= {"annotations": [], "logprobs": []}
    if answer.refusal:
        part = {"type": "refusal", "refusal": answer.refusal}
    if answer.text or answer.refusal:
        message = {"role": "assistant", "content": [part]}
        yield {"id": "msg_01", "type": "message", **message}
    for call in answer.calls:
        yield {
            "id": f"fc_0{call.number}",
            "type": "function_call",
            "call_id": call.id,
            "name": tool,
            "arguments": json.dumps(arguments(tool, call.number)),
        }


def _item(item: dict[str, Any], status: str) -> dict[str, Any]:
    """Return an item; what follows in deltas is empty while it is in progress."""
    if status == "completed":
        return item if item["type"] == "reasoning" else {**item, "status": status}
    match item["type"]:
        case "reasoning":
            return {**item, "summary": []}
        case "message":
            return {**item, "status": status, "content": []}
    return {**item, "status": status, "arguments": ""}


def _deltas(item: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    if item["type"] == "function_call":
        given = item["arguments"]
        yield "function_call_arguments.delta", {"delta": given[:4]}
        yield "function_call_arguments.delta", {"delta": given[4:]}
        called = {"name": item["name"], "arguments": given}
        yield "function_call_arguments.done", called
        return
    of_thought = item["type"] == "reasoning"
    [part] = item["summary"] if of_thought else item["content"]
    prefix = "reasoning_summary" if of_thought else "content"
    place = {"summary_index" if of_thought else "content_index": 0}
    name = "refusal" if part["type"] == "refusal" else "text"
    kind = {"refusal": "refusal", "summary_text": "reasoning_summary_text"}.get(
        part["type"], "output_text"
    )
    logprobs: dict[str, Any] = {"logprobs": []} if kind == "output_text" else {}
    text = part[name]
    middle = len(text) // 2
    yield f"{prefix}_part.added", {**place, "part": {**part, name: ""}}
    for half in (text[:middle], text[middle:]):
        yield f"{kind}.delta", {**place, "delta": half, **logprobs}
    yield f"{kind}.done", {**place, name: text, **logprobs}
    yield f"{prefix}_part.done", {**place, "part": part}


def _usage(answer: Answer) -> dict[str, Any]:
    usage = answer.usage
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.read},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }
