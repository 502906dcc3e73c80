"""Read spans in the OpenInference and OpenTelemetry GenAI conventions.

A span may follow both; OpenInference has precedence, because its attributes are more
specific and the names of the GenAI conventions have changed.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span, Status
from pydantic import TypeAdapter, ValidationError

from service.sessions.ids import SessionId
from service.sessions.otlp.attributes import (
    Attributes,
    attributes,
    begins_with,
    first_id,
    first_text,
)
from service.sessions.otlp.instrumentation import Instrumentation
from service.sessions.otlp.instrumentations import instrumentation_of
from service.sessions.otlp.model_calls import client_id, model_call
from service.sessions.otlp.span import Entry, ReportedSpan
from service.sessions.otlp.span_texts import NO_TEXTS, input_of, output_of, texts_of
from service.sessions.turn import Texts

TRACE_ID_BYTES: Final = 16
SPAN_ID_BYTES: Final = 8
# Flags: whether the parent is remote is known, and it is remote.
PARENT_IS_REMOTE: Final = 0x100 | 0x200

# No span is from before 2000, so that times in another unit are found.
EARLIEST_NS: Final = 946_684_800 * 10**9
LATEST_NS: Final = 4_102_444_800 * 10**9
UNITS: Final = {
    "seconds": 10**9,
    "milliseconds": 10**6,
    "microseconds": 10**3,
    "units of 100 nanoseconds": 100,
}

# What logfire writes in the place of an attribute whose name it doesn't let out.
SCRUBBED: Final = "[Scrubbed due to "

_SESSION_ID: Final = TypeAdapter[str](SessionId)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class SpanError(Exception):
    """An invalid span; the message gives the reason, without the span's content."""


def reported_span(span: Span, scope: str = "") -> ReportedSpan:
    """Extract from a span what concerns a turn; ``scope`` names its instrumentation.

    :raises SpanError: an invalid trace id, span id, time or session id
    """
    if len(span.trace_id) != TRACE_ID_BYTES or not any(span.trace_id):
        raise SpanError("a trace id must have 16 bytes, not all 0")
    if len(span.span_id) != SPAN_ID_BYTES or not any(span.span_id):
        raise SpanError("a span id must have 8 bytes, not all 0")
    if len(span.parent_span_id) not in (0, SPAN_ID_BYTES):
        raise SpanError("a parent span id must have 8 bytes")
    _check_times(span)
    found = attributes(span.attributes)
    is_root = not any(span.parent_span_id)
    is_called = span.flags & PARENT_IS_REMOTE == PARENT_IS_REMOTE
    is_entry = is_root or is_called
    is_error = span.status.code == Status.STATUS_CODE_ERROR
    row = instrumentation_of(scope)
    return ReportedSpan(
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id="" if is_root else span.parent_span_id.hex(),
        started_at=_time(span.start_time_unix_nano),
        ended_at=_time(span.end_time_unix_nano),
        session_id=_session_id(found, row),
        entry=_entry(span, found, row, is_root=is_root) if is_entry else None,
        call=model_call(found, row, scope=scope, is_error=is_error),
        texts=NO_TEXTS if is_root else texts_of(found, row),
    )


def reported_spans(of_resource: ResourceSpans) -> list[ReportedSpan | SpanError]:
    """Return what each span of a resource reports, or why it can't be used."""
    found: list[ReportedSpan | SpanError] = []
    for scope in of_resource.scope_spans:
        for span in scope.spans:
            try:
                found.append(reported_span(span, scope.scope.name))
            except SpanError as error:
                found.append(error)
    return found


def _check_times(span: Span) -> None:
    start, end = span.start_time_unix_nano, span.end_time_unix_nano
    for time in (start, end):
        if 0 < time < EARLIEST_NS:
            units = (
                f", and is probably in {unit}"
                for unit, factor in UNITS.items()
                if EARLIEST_NS <= time * factor < LATEST_NS
            )
            raise SpanError(
                f"a span's times are nanoseconds since 1970: {time} is"
                f" {_time(time):%Y-%m-%d}{next(units, '')}"
            )
    if not 0 < start <= end:
        raise SpanError("a span must have a start, and an end not before it")


def _time(nanoseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000)


def _session_id(found: Attributes, row: Instrumentation) -> str | None:
    text = first_id(found, *row.session)
    if text is None or text.startswith(SCRUBBED):
        return None
    try:
        return _SESSION_ID.validate_python(text)
    except ValidationError:
        raise SpanError("the session id is not valid") from None


def _entry(
    span: Span, found: Attributes, row: Instrumentation, *, is_root: bool
) -> Entry:
    is_error = span.status.code == Status.STATUS_CODE_ERROR
    return Entry(
        is_root=is_root,
        ended_at=_time(span.end_time_unix_nano),
        user=client_id(first_id(found, *row.user)),
        is_error=is_error,
        texts=Texts(
            input=input_of(found, row),
            output=output_of(found, row),
            error=_error(span) if is_error else None,
        ),
        is_event=row.are_events and (row.main is None or begins_with(found, *row.main)),
    )


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
