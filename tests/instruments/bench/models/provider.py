"""A provider: ``python -m tests.instruments.bench.models.provider``.

It answers chat completions at once, by a document, or by a stream where one is asked.
"""

import asyncio
import json
from typing import Any, Final, cast

import uvloop

from tests.instruments.bench.streams.provider import HEAD, chunk

MODEL: Final = "gpt-4o"
COMMON: Final = {
    "id": "chatcmpl-D1uW4mBqzTjKc0Yp",
    "created": 1_790_000_000,
    "model": MODEL,
    "service_tier": "default",
    "system_fingerprint": "fp_44709d6fcb",
}
USAGE: Final = {
    "prompt_tokens": 1200,
    "completion_tokens": 140,
    "total_tokens": 1340,
    "prompt_tokens_details": {"cached_tokens": 1024, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
}
DELTAS: Final = 20
PAUSE_S: Final = 0.002
HEAD_END: Final = b"\r\n\r\n"
IS_STREAM: Final = (b'"stream":true', b'"stream": true')


def _document() -> bytes:
    text = "It is a sentence of an answer. " * 18
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    document = {
        **COMMON,
        "object": "chat.completion",
        "choices": [choice],
        "usage": USAGE,
    }
    content = json.dumps(document).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d%b"
    return head % (len(content), HEAD_END) + content


def _events() -> list[bytes]:
    common = {**COMMON, "object": "chat.completion.chunk", "usage": None}

    def event(delta: Any, reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return b"data: %b\n\n" % json.dumps({**common, "choices": [choice]}).encode()

    last = {**common, "choices": [], "usage": USAGE}
    return [
        event({"role": "assistant", "content": ""}),
        *[event({"content": " word"})] * DELTAS,
        event({}, "stop") + b"data: %b\n\ndata: [DONE]\n\n" % json.dumps(last).encode(),
    ]


DOCUMENT: Final = _document()
FIRST, *PIECES = map(chunk, _events())
LAST_CHUNK: Final = b"0\r\n\r\n"


class Connection(asyncio.Protocol):
    """Answers one request after the other."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._awaited = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are no subclasses of asyncio's.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        if not self._awaited:
            at = self._received.find(HEAD_END)
            if at < 0:
                return
            head = bytes(self._received[:at]).lower()
            length = head.partition(b"\r\ncontent-length:")[2].split(b"\r")[0]
            self._awaited = at + len(HEAD_END) + int(length)
        if len(self._received) < self._awaited:
            return
        # Where clients write it: at the beginning or the end of the body.
        is_stream = any(each in self._received for each in IS_STREAM)
        self._received, self._awaited = bytearray(), 0
        if is_stream:
            self._transport.write(HEAD + FIRST)
            self._next(0)
        else:
            self._transport.write(DOCUMENT)

    def _next(self, number: int) -> None:
        if self._transport.is_closing():
            return
        if number == len(PIECES):
            self._transport.write(LAST_CHUNK)
            return
        self._transport.write(PIECES[number])
        loop = asyncio.get_running_loop()
        loop.call_later(PAUSE_S, self._next, number + 1)


async def main() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0, backlog=1024)
    print(f"ready at http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
