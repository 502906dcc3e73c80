"""Read spans in the OpenInference and OpenTelemetry GenAI conventions.

A span may follow both; OpenInference has precedence, because its attributes are more
specific and the names of the GenAI conventions have changed.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

import orjson
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from pydantic import TypeAdapter, ValidationError

from service.sessions.ids import ID_PATTERN, SessionId
from service.sessions.otlp.attributes import (
    Attributes,
    attributes,
    first_count,
    first_text,
)
from service.sessions.otlp.messages import all_texts, last_text
from service.sessions.otlp.span import Entry, ModelCall, ReportedSpan
from service.sessions.turn import Texts

TRACE_ID_BYTES: Final = 16
SPAN_ID_BYTES: Final = 8
# Flags: whether the parent is remote is known, and it is remote.
PARENT_IS_REMOTE: Final = 0x100 | 0x200

SESSION: Final = ("session.id", "gen_ai.conversation.id")
USER: Final = ("user.id", "enduser.id")
PROVIDER: Final = (
    "llm.provider",
    "llm.system",
    "gen_ai.provider.name",
    "gen_ai.system",
)
MODEL: Final = (
    "llm.model_name",
    "embedding.model_name",
    "gen_ai.response.model",
    "gen_ai.request.model",
)
ASKED_MODEL: Final = ("gen_ai.request.model",)
PROMPT: Final = (
    "llm.token_count.prompt",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
)
COMPLETION: Final = (
    "llm.token_count.completion",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
)
CACHE_READ: Final = (
    "llm.token_count.prompt_details.cache_read",
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
)
CACHE_CREATION: Final = (
    "llm.token_count.prompt_details.cache_write",
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
)
# Kinds of spans that are themselves a model call.
CALL_KINDS: Final = frozenset({"LLM", "EMBEDDING", "RERANKER"})
CALL_OPERATIONS: Final = frozenset(
    {"chat", "text_completion", "generate_content", "embeddings"}
)

_SESSION_ID: Final = TypeAdapter[str](SessionId)
_CLIENT_ID: Final = re.compile(ID_PATTERN)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class SpanError(Exception):
    """An invalid span; the message gives the reason, without the span's content."""


def reported_span(span: Span) -> ReportedSpan:
    """Extract from a span what concerns a turn.

    :raises SpanError: an invalid trace id, span id, time or session id
    """
    if len(span.trace_id) != TRACE_ID_BYTES or not any(span.trace_id):
        raise SpanError("a trace id must have 16 bytes, not all 0")
    if len(span.span_id) != SPAN_ID_BYTES or not any(span.span_id):
        raise SpanError("a span id must have 8 bytes, not all 0")
    if len(span.parent_span_id) not in (0, SPAN_ID_BYTES):
        raise SpanError("a parent span id must have 8 bytes")
    if not 0 < span.start_time_unix_nano <= span.end_time_unix_nano:
        raise SpanError("a span must have a start, and an end not before it")
    found = attributes(span.attributes)
    is_root = not any(span.parent_span_id)
    is_called = span.flags & PARENT_IS_REMOTE == PARENT_IS_REMOTE
    return ReportedSpan(
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id="" if is_root else span.parent_span_id.hex(),
        started_at=_time(span.start_time_unix_nano),
        session_id=_session_id(found),
        entry=_entry(span, found, is_root=is_root) if is_root or is_called else None,
        call=_call(found),
    )


def _time(nanoseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000)


def _session_id(found: Attributes) -> str | None:
    text = (first_text(found, *SESSION) or "").strip()
    if not text:
        return None
    try:
        return _SESSION_ID.validate_python(text)
    except ValidationError:
        raise SpanError("the session id is not valid") from None


def _client_id(text: str | None) -> str | None:
    """Return a name, or None if it can't be recorded."""
    text = (text or "").strip()
    return text if _CLIENT_ID.fullmatch(text) else None


def _entry(span: Span, found: Attributes, *, is_root: bool) -> Entry:
    is_error = span.status.code == Status.STATUS_CODE_ERROR
    return Entry(
        is_root=is_root,
        ended_at=_time(span.end_time_unix_nano),
        user=_client_id(first_text(found, *USER)),
        is_error=is_error,
        texts=Texts(
            input=first_text(found, "input.value") or _input(found),
            output=first_text(found, "output.value") or _output(found),
            error=_error(span) if is_error else None,
        ),
    )


def _input(found: Attributes) -> str | None:
    messages = first_text(found, "gen_ai.input.messages")
    if messages is not None:
        return last_text(messages, role="user")
    return first_text(found, "gen_ai.prompt")


def _output(found: Attributes) -> str | None:
    messages = first_text(found, "gen_ai.output.messages")
    if messages is not None:
        return all_texts(messages)
    return first_text(found, "gen_ai.completion")


def _error(span: Span) -> str | None:
    if span.status.message:
        return span.status.message
    for event in span.events:
        if event.name == "exception":
            found = attributes(event.attributes)
            parts = (
                first_text(found, "exception.type"),
                first_text(found, "exception.message"),
            )
            return ": ".join(filter(None, parts)) or None
    return None


def _call(found: Attributes) -> ModelCall | None:
    prompt = first_count(found, *PROMPT)
    completion = first_count(found, *COMPLETION)
    if prompt is None and completion is None:
        return None
    cache_read = first_count(found, *CACHE_READ)
    cache_creation = first_count(found, *CACHE_CREATION)
    cached = (cache_read or 0) + (cache_creation or 0)
    if prompt is None:
        cache_read = cache_creation = None
    elif cached > prompt:
        # Some providers don't include cached tokens in the input.
        prompt += cached
    return ModelCall(
        provider=_client_id(first_text(found, *PROVIDER)),
        model=_client_id(first_text(found, *MODEL)),
        asked_model=_client_id(_asked_model(found)),
        prompt_tokens=prompt,
        completion_tokens=completion,
        cache_read_tokens=cache_read,
        cache_creation_tokens=cache_creation,
        is_total=not _is_call(found),
    )


def _asked_model(found: Attributes) -> str | None:
    asked = first_text(found, *ASKED_MODEL)
    if asked is not None:
        return asked
    parameters = first_text(found, "llm.invocation_parameters")
    if parameters is None:
        return None
    try:
        model = orjson.loads(parameters)["model"]
    except (orjson.JSONDecodeError, KeyError, TypeError, IndexError):
        return None
    return model if isinstance(model, str) else None


def _is_call(found: Attributes) -> bool:
    kind = first_text(found, "openinference.span.kind")
    if kind is not None:
        return kind.upper() in CALL_KINDS
    operation = first_text(found, "gen_ai.operation.name")
    return operation is None or operation in CALL_OPERATIONS
