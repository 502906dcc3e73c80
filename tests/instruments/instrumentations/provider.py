"""A fake model provider on loopback, which reports known usage.

It speaks the chat completions and embeddings of OpenAI, and the messages of Anthropic,
streamed or not. It needs the standard library alone: it runs in the environment of the
instrumentations.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

FIRST, SECOND = "What is due?", "And tomorrow?"
ANSWERS = {FIRST: "Two are due today.", SECOND: "Nothing is due tomorrow."}
OPENAI_MODEL = "gpt-4o-mini"
OPENAI_ANSWERING = "gpt-4o-mini-2024-07-18"
EMBEDDING_MODEL = "text-embedding-3-small"
ANTHROPIC_MODEL = "claude-sonnet-4-5"
ANTHROPIC_ANSWERING = "claude-sonnet-4-5-20250929"
# Input, of it read from and written to a cache, and output. OpenAI has no cache writes.
OPENAI_USAGE = {FIRST: (1200, 200, 0, 80), SECOND: (1300, 1200, 0, 20)}
ANTHROPIC_USAGE = {FIRST: (1200, 150, 50, 80), SECOND: (1300, 1200, 10, 20)}
REASONING_TOKENS = {FIRST: 30, SECOND: 0}
EMBEDDING_TOKENS = 12
# As OpenRouter reports it with an answer.
REPORTED_COST = {FIRST: 0.00025, SECOND: 0.0002}


@contextmanager
def running_provider() -> Iterator[str]:
    """Yield the base URL of a provider that runs until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = json.loads(self.rfile.read(length))
        if self.path.endswith("/embeddings"):
            self._answer(embeddings(body))
        elif self.path.endswith("/chat/completions"):
            self._chat(body)
        elif self.path.split("?")[0].endswith("/messages"):
            self._messages(body)
        else:
            self.send_error(404)

    def log_message(self, *_: Any) -> None:
        pass

    def _chat(self, body: Any) -> None:
        question = asked(body)
        if body.get("stream"):
            options = body.get("stream_options") or {}
            chunks = completion_chunks(
                question, with_usage=options.get("include_usage")
            )
            self._stream("".join(f"data: {json.dumps(c)}\n\n" for c in chunks))
        else:
            self._answer(completion(question))

    def _messages(self, body: Any) -> None:
        question = asked(body)
        if body.get("stream"):
            events = message_events(question)
            self._stream(
                "".join(
                    f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events
                ),
                done="",
            )
        else:
            self._answer(message(question))

    def _answer(self, body: Any) -> None:
        self._send("application/json", json.dumps(body).encode())

    def _stream(self, events: str, done: str = "data: [DONE]\n\n") -> None:
        self._send("text/event-stream", (events + done).encode())

    def _send(self, content_type: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def asked(body: Any) -> str:
    """Return which question the last message of the user is."""
    content = [m["content"] for m in body["messages"] if m["role"] == "user"][-1]
    text = content if isinstance(content, str) else content[-1]["text"]
    return next(question for question in ANSWERS if question in text)


def number(question: str) -> int:
    return list(ANSWERS).index(question) + 1


def embeddings(body: Any) -> Any:
    inputs = body["input"] if isinstance(body["input"], list) else [body["input"]]
    return {
        "object": "list",
        "model": EMBEDDING_MODEL,
        "data": [
            {"object": "embedding", "index": index, "embedding": [0.5, -0.5]}
            for index in range(len(inputs))
        ],
        "usage": {
            "prompt_tokens": EMBEDDING_TOKENS,
            "total_tokens": EMBEDDING_TOKENS,
        },
    }


def openai_usage(question: str) -> Any:
    prompt, cached, _, output = OPENAI_USAGE[question]
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": REASONING_TOKENS[question],
            "audio_tokens": 0,
        },
        "cost": REPORTED_COST[question],
    }


def completion(question: str) -> Any:
    return {
        "id": f"chatcmpl-{number(question)}",
        "object": "chat.completion",
        "created": 1_772_366_400,
        "model": OPENAI_ANSWERING,
        "service_tier": "default",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": ANSWERS[question]},
            }
        ],
        "usage": openai_usage(question),
    }


def completion_chunks(question: str, *, with_usage: Any) -> Iterator[Any]:
    whole = completion(question)
    common = {
        **{key: whole[key] for key in ("id", "created", "model", "service_tier")},
        "object": "chat.completion.chunk",
        **({"usage": None} if with_usage else {}),
    }
    words = ANSWERS[question].split(" ")
    deltas = [{"role": "assistant", "content": ""}]
    deltas += [{"content": w if i == 0 else f" {w}"} for i, w in enumerate(words)]
    for delta in deltas:
        yield {
            **common,
            "choices": [{"index": 0, "delta": delta, "finish_reason": None}],
        }
    yield {**common, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    if with_usage:
        yield {**common, "choices": [], "usage": whole["usage"]}


def anthropic_usage(question: str) -> Any:
    prompt, read, written, output = ANTHROPIC_USAGE[question]
    return {
        "input_tokens": prompt - read - written,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "cache_creation": {
            "ephemeral_5m_input_tokens": written,
            "ephemeral_1h_input_tokens": 0,
        },
        "output_tokens": output,
        "service_tier": "standard",
    }


def message(question: str) -> Any:
    return {
        "id": f"msg_{number(question)}",
        "type": "message",
        "role": "assistant",
        "model": ANTHROPIC_ANSWERING,
        "content": [{"type": "text", "text": ANSWERS[question]}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": anthropic_usage(question),
    }


def message_events(question: str) -> Iterator[Any]:
    usage = anthropic_usage(question)
    begun = {
        **message(question),
        "content": [],
        "stop_reason": None,
        "usage": {**usage, "output_tokens": 1},
    }
    yield {"type": "message_start", "message": begun}
    yield {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "text", "text": ""},
    }
    yield {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "text_delta", "text": ANSWERS[question]},
    }
    yield {"type": "content_block_stop", "index": 0}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {name: n for name, n in usage.items() if name.endswith("tokens")},
    }
    yield {"type": "message_stop"}
