"""Scripted providers on loopback, which answer with the usage of a case.

They speak OpenAI's chat completions and responses, Anthropic's messages, Gemini's
generateContent and Bedrock's Converse, streamed or not, and keep each answer as the
provider would give it whole: the yardstick. It needs the standard library alone.
"""

import json
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final

from tests.instruments.costs.instrumentations.cases import ANSWERS, CASES, Used

MODELS: Final = {
    "chat": "gpt-5.2",
    "responses": "gpt-5.2",
    "anthropic": "claude-sonnet-4-5",
    "google": "gemini-2.5-pro",
    "bedrock": "global.anthropic.claude-sonnet-4-5-20250929-v1:0",
}
AUDIO_MODELS: Final = {"chat": "gpt-audio", "google": "gemini-2.5-flash"}
ANSWERING: Final = {
    "gpt-5.2": "gpt-5.2-2025-12-11",
    "gpt-5.5": "gpt-5.5-2026-04-23",
    "claude-sonnet-4-5": "claude-sonnet-4-5-20250929",
}
CREATED: Final = 1_795_168_800


def model_of(api: str, case: str) -> str:
    return AUDIO_MODELS[api] if case == "audio" else MODELS[api]


class Script:
    """What the provider answers now, and what it has answered."""

    def __init__(self) -> None:
        self.case = "plain"
        self.turn = 0
        self.answers: list[Any] = []
        self.exports: list[Any] = []
        self.logs: list[Any] = []

    def begin(self, case: str) -> None:
        self.case, self.turn = case, 0
        self.answers, self.exports, self.logs = [], [], []

    def used(self, body: Any) -> tuple[Used, str | None, bool]:
        """Return the usage, the tier, and whether a tool is to be called."""
        case = CASES[self.case]
        sent = json.dumps(body)
        calls_tool = case.tools and not any(
            word in sent for word in ('"tool"', "function_call_output", "tool_result")
        )
        return case.turns[self.turn], case.tier, calls_tool

    def answered(self, api: str, answer: Any) -> None:
        self.answers.append({"turn": self.turn, "api": api, "answer": answer})


@contextmanager
def running_provider() -> Iterator[tuple[str, Script]]:
    """Yield the base URL of a provider that runs until the block ends."""
    script = Script()
    handler = type("ScriptedHandler", (Handler,), {"script": script})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Handler(BaseHTTPRequestHandler):
    script: Script
    request_id = ""

    def do_GET(self) -> None:
        self._send("application/json", b"{}")

    do_HEAD = do_GET  # noqa: N815 # as the library calls it

    def do_POST(self) -> None:
        body, path = self._body(), self.path.split("?")[0]
        if path.endswith("/begin"):
            self.script.begin(body["case"])
        elif path.endswith("/turn"):
            self.script.turn = body["turn"]
        elif path.endswith("/v1/traces"):
            self.script.exports.append(body)
        elif path.endswith("/v1/logs"):
            self.script.logs.append(body)
        elif not path.endswith("/v1/metrics"):
            self.request_id = f"req_{self._number()}"
            self._ask(path, body)
            return
        self._json({})

    def _ask(self, path: str, body: Any) -> None:
        if path.endswith("/chat/completions"):
            self._chat(body)
        elif path.endswith("/responses"):
            self._responses(body)
        elif path.endswith("/messages"):
            self._messages(body)
        elif "enerateContent" in path:
            self._google(body, is_stream="stream" in path)
        elif path.endswith(("/converse", "/converse-stream")):
            self._bedrock(body, is_stream=path.endswith("stream"))
        else:
            self._send("application/json", b"{}", status=404)

    def log_message(self, *_: Any) -> None:
        pass

    def _body(self) -> Any:
        if self.headers.get("Transfer-Encoding") == "chunked":
            raw = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            return json.loads(raw)
        except ValueError:
            return {}

    def _chat(self, body: Any) -> None:
        used, tier, calls_tool = self.script.used(body)
        whole = completion(body["model"], used, tier, self._number())
        if calls_tool:
            whole["choices"][0]["finish_reason"] = "tool_calls"
            whole["choices"][0]["message"] = {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": f"call_{self._number()}",
                        "type": "function",
                        "function": {"name": "today", "arguments": "{}"},
                    }
                ],
            }
        self.script.answered("chat", whole)
        if not body.get("stream"):
            return self._json(whole)
        with_usage = (body.get("stream_options") or {}).get("include_usage")
        return self._events(completion_chunks(whole, with_usage=with_usage), done=True)

    def _responses(self, body: Any) -> None:
        used, tier, calls_tool = self.script.used(body)
        whole = response(body, used, tier, self._number(), calls_tool=calls_tool)
        self.script.answered("responses", whole)
        if not body.get("stream"):
            return self._json(whole)
        return self._events(response_events(whole), named=True)

    def _messages(self, body: Any) -> None:
        used, tier, calls_tool = self.script.used(body)
        whole = message(body["model"], used, tier, self._number())
        if calls_tool:
            whole["stop_reason"] = "tool_use"
            called = {"id": f"toolu_{self._number()}", "name": "today", "input": {}}
            whole["content"] = [{"type": "tool_use", **called}]
        self.script.answered("anthropic", whole)
        if not body.get("stream"):
            return self._json(whole)
        return self._events(message_events(whole), named=True)

    def _google(self, body: Any, *, is_stream: bool) -> None:
        used, _, _ = self.script.used(body)
        model = self.path.rpartition("/models/")[2].split(":")[0]
        whole = generated(model, used, self._number())
        self.script.answered("google", whole)
        if not is_stream:
            return self._json(whole)
        first = {
            **whole,
            "candidates": [{"content": whole["candidates"][0]["content"], "index": 0}],
            "usageMetadata": {
                "promptTokenCount": used.input,
                "totalTokenCount": used.input,
            },
        }
        last = json.loads(json.dumps(whole))
        last["candidates"][0]["content"]["parts"] = [{"text": ""}]
        return self._events([first, last])

    def _bedrock(self, body: Any, *, is_stream: bool) -> None:
        used, _, _ = self.script.used(body)
        whole = conversed(used, self.script.turn)
        self.script.answered("bedrock", whole)
        if not is_stream:
            return self._json(whole)
        text = whole["output"]["message"]["content"][0]["text"]
        events = [
            ("messageStart", {"role": "assistant"}),
            ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": text}}),
            ("contentBlockStop", {"contentBlockIndex": 0}),
            ("messageStop", {"stopReason": "end_turn"}),
            ("metadata", {"usage": whole["usage"], "metrics": {"latencyMs": 9}}),
        ]
        return self._send(
            "application/vnd.amazon.eventstream",
            b"".join(_aws_event(name, data) for name, data in events),
        )

    def _number(self) -> str:
        """Return what makes ids of answers different, also between cases."""
        return f"{self.script.case}-{len(self.script.answers) + 1}"

    def _json(self, body: Any) -> None:
        self._send("application/json", json.dumps(body).encode())

    def _events(self, events: Any, *, named: bool = False, done: bool = False) -> None:
        text = "".join(
            (f"event: {each['type']}\n" if named else "")
            + f"data: {json.dumps(each)}\n\n"
            for each in events
        )
        end = "data: [DONE]\n\n" if done else ""
        self._send("text/event-stream", (text + end).encode())

    def _send(self, content_type: str, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        if self.request_id:
            # As Anthropic and as OpenAI name it.
            self.send_header("request-id", self.request_id)
            self.send_header("x-request-id", self.request_id)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def completion(model: str, used: Used, tier: str | None, number: str) -> Any:
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": CREATED,
        "model": ANSWERING.get(model, model),
        "service_tier": tier or "default",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": _text(used)},
            }
        ],
        "usage": {
            "prompt_tokens": used.input,
            "completion_tokens": used.output,
            "total_tokens": used.input + used.output,
            "prompt_tokens_details": {
                "cached_tokens": used.read,
                "audio_tokens": used.audio,
            },
            "completion_tokens_details": {
                "reasoning_tokens": used.reasoning,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
        },
    }


def completion_chunks(whole: Any, *, with_usage: Any) -> Iterator[Any]:
    common = {
        **{key: whole[key] for key in ("id", "created", "model", "service_tier")},
        "object": "chat.completion.chunk",
        **({"usage": None} if with_usage else {}),
    }
    choice = whole["choices"][0]
    message = {k: v for k, v in choice["message"].items() if k != "role"}
    for index, call in enumerate(message.get("tool_calls", ())):
        call["index"] = index
    for delta in ({"role": "assistant", "content": ""}, message):
        yield {
            **common,
            "choices": [{"index": 0, "delta": delta, "finish_reason": None}],
        }
    end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    yield {**common, "choices": [end]}
    if with_usage:
        yield {**common, "choices": [], "usage": whole["usage"]}


def response(
    body: Any, used: Used, tier: str | None, number: str, *, calls_tool: bool
) -> Any:
    model = body["model"]
    message = {
        "type": "message",
        "id": f"msg_{number}",
        "status": "completed",
        "role": "assistant",
        "content": [
            {"type": "output_text", "text": _text(used), "annotations": []},
        ],
    }
    called = {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": "today",
        "arguments": "{}",
        "status": "completed",
    }
    searches = [
        {
            "type": "web_search_call",
            "id": f"ws_{number}_{each}",
            "status": "completed",
            "action": {"type": "search", "query": "due"},
        }
        for each in range(used.searches)
    ]
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": CREATED,
        "status": "completed",
        "model": ANSWERING.get(model, model),
        "service_tier": tier or "default",
        "output": [*searches, called if calls_tool else message],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": body.get("tools", []),
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "temperature": 1.0,
        "top_p": 1.0,
        "usage": {
            "input_tokens": used.input,
            "input_tokens_details": {"cached_tokens": used.read},
            "output_tokens": used.output,
            "output_tokens_details": {"reasoning_tokens": used.reasoning},
            "total_tokens": used.input + used.output,
        },
    }


def response_events(whole: Any) -> Iterator[Any]:
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    # As in a real stream: the answer's tier is known at its end only.
    begun["service_tier"] = "auto"
    number = 0

    def event(kind: str, **fields: Any) -> Any:
        nonlocal number
        number += 1
        return {"type": f"response.{kind}", "sequence_number": number, **fields}

    yield event("created", response=begun)
    yield event("in_progress", response=begun)
    for index, item in enumerate(whole["output"]):
        place = {"output_index": index}
        yield event("output_item.added", item={**item, "content": []}, **place)
        if item["type"] == "message":
            inner = {**place, "item_id": item["id"], "content_index": 0}
            part = item["content"][0]
            yield event("content_part.added", part={**part, "text": ""}, **inner)
            yield event("output_text.delta", delta=part["text"], logprobs=[], **inner)
            yield event("output_text.done", text=part["text"], logprobs=[], **inner)
            yield event("content_part.done", part=part, **inner)
        if item["type"] == "function_call":
            inner = {**place, "item_id": item["id"]}
            yield event("function_call_arguments.delta", delta="{}", **inner)
            yield event(
                "function_call_arguments.done",
                arguments="{}",
                name=item["name"],
                **inner,
            )
        yield event("output_item.done", item=item, **place)
    yield event("completed", response=whole)


def message(model: str, used: Used, tier: str | None, number: str) -> Any:
    usage: dict[str, Any] = {
        "input_tokens": used.input - used.read - used.write_5m - used.write_1h,
        "cache_read_input_tokens": used.read,
        "cache_creation_input_tokens": used.write_5m + used.write_1h,
        "cache_creation": {
            "ephemeral_5m_input_tokens": used.write_5m,
            "ephemeral_1h_input_tokens": used.write_1h,
        },
        "output_tokens": used.output,
        "service_tier": tier or "standard",
    }
    if used.searches:
        usage["server_tool_use"] = {"web_search_requests": used.searches}
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": ANSWERING.get(model, model),
        "content": [{"type": "text", "text": _text(used)}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": usage,
    }


def message_events(whole: Any) -> Iterator[Any]:
    usage = whole["usage"]
    begun = {**usage, "output_tokens": 1}
    begun.pop("server_tool_use", None)
    yield {
        "type": "message_start",
        "message": {**whole, "content": [], "stop_reason": None, "usage": begun},
    }
    block = whole["content"][0]
    begun_block, delta = block, {"type": "input_json_delta", "partial_json": "{}"}
    if block["type"] == "text":
        begun_block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    yield {"type": "content_block_start", "index": 0, "content_block": begun_block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    told = ("tokens", "server_tool_use")
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None},
        "usage": {name: n for name, n in usage.items() if name.endswith(told)},
    }
    yield {"type": "message_stop"}


def generated(model: str, used: Used, number: str) -> Any:
    text_tokens = used.input - used.audio
    usage: dict[str, Any] = {
        "promptTokenCount": used.input,
        "candidatesTokenCount": used.output - used.reasoning,
        "totalTokenCount": used.input + used.output,
        "promptTokensDetails": [
            {"modality": "TEXT", "tokenCount": text_tokens},
            *([{"modality": "AUDIO", "tokenCount": used.audio}] if used.audio else []),
        ],
    }
    if used.read:
        usage["cachedContentTokenCount"] = used.read
        usage["cacheTokensDetails"] = [{"modality": "TEXT", "tokenCount": used.read}]
    if used.reasoning:
        usage["thoughtsTokenCount"] = used.reasoning
    candidate: dict[str, Any] = {
        "content": {"role": "model", "parts": [{"text": _text(used)}]},
        "finishReason": "STOP",
        "index": 0,
    }
    if used.searches:
        candidate["groundingMetadata"] = {
            "webSearchQueries": [f"due {each}" for each in range(used.searches)]
        }
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": model,
        "responseId": f"gemini-{number}",
    }


def conversed(used: Used, turn: int) -> Any:
    usage: dict[str, Any] = {
        "inputTokens": used.input - used.read - used.write_5m - used.write_1h,
        "outputTokens": used.output,
        "totalTokens": used.input + used.output,
        "cacheReadInputTokens": used.read,
        "cacheWriteInputTokens": used.write_5m + used.write_1h,
    }
    details = [
        {"ttl": ttl, "inputTokens": count}
        for ttl, count in (("5m", used.write_5m), ("1h", used.write_1h))
        if count
    ]
    if details:
        usage["cacheDetails"] = details
    return {
        "output": {
            "message": {"role": "assistant", "content": [{"text": ANSWERS[turn]}]}
        },
        "stopReason": "end_turn",
        "usage": usage,
        "metrics": {"latencyMs": 9},
    }


def _text(used: Used) -> str:
    """Return the answer of the turn that used so much."""
    is_second = any(used == case.turns[1] for case in CASES.values())
    return ANSWERS[int(is_second)]


def _aws_event(name: str, data: Any) -> bytes:
    """Return a message of AWS's event stream encoding."""
    headers = b""
    for key, value in (
        (":event-type", name),
        (":content-type", "application/json"),
        (":message-type", "event"),
    ):
        headers += struct.pack("!B", len(key)) + key.encode()
        headers += b"\x07" + struct.pack("!H", len(value)) + value.encode()
    payload = json.dumps(data).encode()
    begin = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    whole = begin + struct.pack("!I", zlib.crc32(begin)) + headers + payload
    return whole + struct.pack("!I", zlib.crc32(whole))
