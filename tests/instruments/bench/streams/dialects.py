"""Events of the three dialects, in the sizes of today's providers, and what marks them.

``STAMP`` in an event is replaced by when it was sent.
"""

from dataclasses import dataclass
from typing import Final

from service.upstream_http.event_scanner import Marker

STAMP: Final = b"0" * 20
END: Final = b"\n\n"
ERROR: Final = Marker(b'"error"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A stream of ``deltas`` between its first events and its last ones.

    ``withholds`` is whether the event with the usage isn't for the client.
    """

    first: bytes
    delta: bytes
    last: bytes
    markers: tuple[Marker, ...]
    withholds: bool = False


def _chat(choices: bytes, usage: bytes) -> bytes:
    return (
        b'data: {"id":"chatcmpl-D1uW4mBqzTjKc0Yp","object":"chat.completion.chunk",'
        b'"created":1790000000,"model":"gpt-5.4-2026-03-05","service_tier":"default",'
        b'"system_fingerprint":null,"choices":[%b],"usage":%b,"obfuscation":"%b"}\n\n'
        % (choices, usage, STAMP)
    )


def _event(kind: bytes, rest: bytes) -> bytes:
    return b'event: %b\ndata: {"type":"%b",%b}\n\n' % (kind, kind, rest)


CHAT: Final = Dialect(
    first=_chat(b'{"index":0,"delta":{"role":"assistant","content":""}}', b"null"),
    delta=_chat(
        b'{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}',
        b"null",
    ),
    last=_chat(b"", b'{"prompt_tokens":1200,"completion_tokens":400}')
    + b"data: [DONE]\n\n",
    markers=(Marker(b'"usage"', unless=b'"usage":null'), Marker(b"[DONE]"), ERROR),
    withholds=True,
)
RESPONSES: Final = Dialect(
    first=_event(b"response.created", b'"response":{"id":"resp_0b1f","usage":null}'),
    delta=_event(
        b"response.output_text.delta",
        b'"item_id":"msg_0b1f9a8e7d6c5b4a3f2e1d0c","output_index":0,"content_index":0,'
        b'"delta":" word","logprobs":[],"sequence_number":42,"obfuscation":"%b"'
        % STAMP,
    ),
    last=_event(
        b"response.completed",
        b'"response":{"id":"resp_0b1f","usage":{"input_tokens":1200}}',
    ),
    markers=(Marker(b'"response"'), ERROR),
)
MESSAGES: Final = Dialect(
    first=_event(
        b"message_start",
        b'"message":{"id":"msg_01","usage":{"input_tokens":1200,"output_tokens":1}}',
    ),
    delta=_event(
        b"content_block_delta",
        b'"index":0,"delta":{"type":"text_delta","text":" %b"}' % STAMP,
    ),
    last=_event(b"message_delta", b'"usage":{"output_tokens":400}')
    + _event(b"message_stop", b'"index":0'),
    markers=(Marker(b"message_"), ERROR),
)
DIALECTS: Final = {"chat": CHAT, "responses": RESPONSES, "messages": MESSAGES}
