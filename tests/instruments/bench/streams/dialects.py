"""Events of the three dialects, in the sizes of today's providers.

``STAMP`` in an event is replaced by when it was sent.
"""

from dataclasses import dataclass
from typing import Final

from service.model_gateway.dialects import Dialect as ServiceDialect

STAMP: Final = b"0" * 20
END: Final = b"\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A stream of ``deltas`` between its first events and its last ones."""

    first: bytes
    delta: bytes
    last: bytes
    service_dialect: ServiceDialect


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
    service_dialect=ServiceDialect.OPENAI_CHAT,
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
    service_dialect=ServiceDialect.OPENAI_RESPONSES,
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
    service_dialect=ServiceDialect.ANTHROPIC_MESSAGES,
)
DIALECTS: Final = {"chat": CHAT, "responses": RESPONSES, "messages": MESSAGES}
