"""Anthropic's messages: an answer as a document, and as events of a stream."""

import json
from collections.abc import Iterator
from typing import Any, Final

from tests.instruments.model_clients.scenarios import MODEL, Answer, arguments

SIGNATURE: Final = "c2lnbmF0dXJl" * 20
ERROR: Final = {
    "type": "error",
    "error": {"type": "overloaded_error", "message": "Overloaded, for the moment"},
    "request_id": "req_of_provider",
}
KINDS: Final = {429: "rate_limit_error", 529: "overloaded_error"}


def tools(body: Any) -> list[str]:
    return [each["name"] for each in body.get("tools") or () if "name" in each]


def has_results(body: Any) -> bool:
    return any(
        block["type"] == "tool_result"
        for message in body["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
    )


def error(status: int) -> Any:
    return {**ERROR, "error": {"type": KINDS[status], "message": f"status {status}"}}


def document(answer: Answer, tool: str) -> Any:
    return {
        **_begun(answer),
        "content": _blocks(answer, tool),
        "stop_reason": _stop_reason(answer),
        "usage": _usage(answer),
    }


def events(answer: Answer, tool: str) -> Iterator[bytes]:
    yield _event("message_start", message=_begun(answer))
    yield _event("ping")
    for index, block in enumerate(_blocks(answer, tool)):
        empty, deltas = _parts(block)
        yield _event("content_block_start", index=index, content_block=empty)
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    yield _event(
        "message_delta",
        delta={"stop_reason": _stop_reason(answer), "stop_sequence": None},
        usage={"output_tokens": answer.usage.output},
    )
    yield _event("message_stop")


def error_event() -> bytes:
    return b"event: error\ndata: %b\n\n" % json.dumps(ERROR).encode()


def _begun(answer: Answer) -> dict[str, Any]:
    return {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**_usage(answer), "output_tokens": 1},
    }


def _usage(answer: Answer) -> dict[str, Any]:
    usage = answer.usage
    return {
        "input_tokens": usage.input - usage.read - usage.written,
        "cache_read_input_tokens": usage.read,
        "cache_creation_input_tokens": usage.written,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.written,
            "ephemeral_1h_input_tokens": 0,
        },
        "output_tokens": usage.output,
        "service_tier": "standard",
    }


def _stop_reason(answer: Answer) -> str:
    if answer.refusal:
        return "refusal"
    return "tool_use" if answer.calls else "end_turn"


def _blocks(answer: Answer, tool: str) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if answer.thinking:
        thought = {"thinking": answer.thinking, "signature": SIGNATURE}
        blocks.append({"type": "thinking", **thought})
        blocks.append({"type": "redacted_thinking", "data": SIGNATURE})
    if answer.text:
        blocks.append({"type": "text", "text": answer.text})
    for call in answer.calls:
        given = arguments(tool, call.number)
        blocks.append({"type": "tool_use", "id": call.id, "name": tool, "input": given})
    return blocks


def _parts(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a block as it begins, and the deltas that make it whole."""
    match block["type"]:
        case "text":
            first, second = _halves(block["text"])
            return {"type": "text", "text": ""}, [
                {"type": "text_delta", "text": first},
                {"type": "text_delta", "text": second},
            ]
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}, [
                {"type": "thinking_delta", "thinking": block["thinking"]},
                {"type": "signature_delta", "signature": block["signature"]},
            ]
        case "tool_use":
            first, second = _halves(json.dumps(block["input"]))
            return {**block, "input": {}}, [
                {"type": "input_json_delta", "partial_json": ""},
                {"type": "input_json_delta", "partial_json": first},
                {"type": "input_json_delta", "partial_json": second},
            ]
    return block, []


def _halves(text: str) -> tuple[str, str]:
    middle = len(text) // 2
    return text[:middle], text[middle:]


def _event(kind: str, **members: Any) -> bytes:
    data = json.dumps({"type": kind, **members}, ensure_ascii=False)
    return f"event: {kind}\ndata: {data}\n\n".encode()
