"""One call in each dialect: what a client sends, and a provider answers."""

from dataclasses import dataclass
from typing import Any

import orjson

from service.model_gateway.dialects import Dialect


@dataclass(frozen=True, kw_only=True)
class Spoken:
    """``path`` follows the agent's; ``events`` are a whole stream, ``whole`` none."""

    dialect: Dialect
    path: str
    provider_path: str
    body: dict[str, Any]
    events: tuple[bytes, ...]
    whole: dict[str, Any]

    def request(self, **other: Any) -> bytes:
        return orjson.dumps({**self.body, **other})


def event(kind: str, **members: Any) -> bytes:
    document = orjson.dumps({"type": kind, **members})
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), document)


def chunk_of(choices: list[Any], usage: Any = None, **other: Any) -> bytes:
    document = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1790000000,
        "model": "swift-1-2026",
        "choices": choices,
        "usage": usage,
        **other,
    }
    return b"data: %b\n\n" % orjson.dumps(document)


def delta(text: str) -> bytes:
    return chunk_of([{"index": 0, "delta": {"content": text}, "finish_reason": None}])


USAGE = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
USAGE_CHUNK = chunk_of([], USAGE)
DONE = b"data: [DONE]\n\n"
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1790000000,
    "status": "in_progress",
    "model": "swift-1-2026",
    "output": [],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
OUTPUT = [
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Hello", "annotations": []}],
    }
]
COMPLETED = {
    **RESPONSE,
    "status": "completed",
    "output": OUTPUT,
    "usage": {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 11,
    },
}
MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "swift-1-2026",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 9, "output_tokens": 1},
}

CHAT = Spoken(
    dialect=Dialect.OPENAI_CHAT,
    path="/openai/v1/chat/completions",
    provider_path="/v1/chat/completions",
    body={"model": "fast", "messages": [{"role": "user", "content": "Hi"}]},
    events=(
        delta("Hel"),
        delta("lo"),
        chunk_of([{"index": 0, "delta": {}, "finish_reason": "stop"}]),
        USAGE_CHUNK,
        DONE,
    ),
    whole={
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1790000000,
        "model": "swift-1-2026",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hello"},
                "finish_reason": "stop",
            }
        ],
        "usage": USAGE,
    },
)
RESPONSES = Spoken(
    dialect=Dialect.OPENAI_RESPONSES,
    path="/openai/v1/responses",
    provider_path="/v1/responses",
    body={"model": "fast", "input": "Hi"},
    events=(
        event("response.created", sequence_number=0, response=RESPONSE),
        event(
            "response.output_text.delta",
            sequence_number=1,
            item_id="msg_1",
            output_index=0,
            content_index=0,
            delta="Hello",
            logprobs=[],
        ),
        event("response.completed", sequence_number=2, response=COMPLETED),
    ),
    whole=COMPLETED,
)
MESSAGES = Spoken(
    dialect=Dialect.ANTHROPIC_MESSAGES,
    path="/anthropic/v1/messages",
    provider_path="/v1/messages",
    body={
        "model": "fast",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "Hi"}],
    },
    events=(
        event("message_start", message=MESSAGE),
        event(
            "content_block_start", index=0, content_block={"type": "text", "text": ""}
        ),
        event(
            "content_block_delta",
            index=0,
            delta={"type": "text_delta", "text": "Hello"},
        ),
        event("content_block_stop", index=0),
        event(
            "message_delta",
            delta={"stop_reason": "end_turn", "stop_sequence": None},
            usage={"output_tokens": 2},
        ),
        event("message_stop"),
    ),
    whole={
        **MESSAGE,
        "content": [{"type": "text", "text": "Hello"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 9, "output_tokens": 2},
    },
)
STREAMED = (CHAT, RESPONSES, MESSAGES)
DIALECTS = [each.dialect.value for each in STREAMED]
