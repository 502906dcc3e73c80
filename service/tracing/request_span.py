"""Spans of a request, and of the decision, the queue and the commit of its command."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    Span,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    set_span_in_context,
)

from service.errors import ServiceError

APPEND: Final = "events.append"
SERVER_ERROR: Final = 500


class RequestSpan:
    """The SERVER span of an HTTP request."""

    def __init__(self, tracer: Tracer, span: Span) -> None:
        self.span = span
        self._tracer = tracer
        self._context = set_span_in_context(span, Context())

    @property
    def has_ended(self) -> bool:
        return not self.span.is_recording()

    @property
    def traceparent(self) -> str:
        """What the events of the request are recorded with, for those who follow."""
        context = self.span.get_span_context()
        ids = f"{context.trace_id:032x}-{context.span_id:016x}"
        return f"00-{ids}-{context.trace_flags:02x}"

    @contextmanager
    def deciding(self) -> Iterator[None]:
        """Trace a block that loads, authorizes and decides: once for each attempt."""
        span = self._tracer.start_span("decide", context=self._context)
        try:
            with failing(span):
                yield
        finally:
            span.end()

    def waiting_for_commit(self) -> "QueueSpan":
        """Trace the wait of a command in the queue, from now on."""
        span = self._tracer.start_span("queue", context=self._context)
        link = Link(self.span.get_span_context())
        return QueueSpan(self._tracer, self._context, link, span)

    def record_response(self, status: int, request_id: str | None) -> None:
        self.span.set_attribute("http.response.status_code", status)
        if request_id is not None:
            self.span.set_attribute("agent_runtime.request.id", request_id)
        if status >= SERVER_ERROR:
            fail(self.span, str(status))


class QueueSpan:
    """The wait of a command for the commit that takes it."""

    def __init__(
        self, tracer: Tracer, context: Context, request: Link, span: Span
    ) -> None:
        self.request = request
        self._tracer = tracer
        self._context = context
        self._span = span

    @contextmanager
    def committing(
        self, waiting: Sequence["QueueSpan"], commands: int
    ) -> Iterator[None]:
        """Trace the commit of a batch, in the trace of its first command.

        It is linked to all requests of the batch that are traced.
        """
        span = self._tracer.start_span(
            f"SELECT {APPEND}",
            context=self._context,
            kind=SpanKind.CLIENT,
            links=[each.request for each in waiting],
            attributes={
                "db.system.name": "postgresql",
                "db.stored_procedure.name": APPEND,
                "db.query.summary": f"SELECT {APPEND}",
                "agent_runtime.commit.commands": commands,
            },
        )
        for each in waiting:
            each.taken_by(span)
        try:
            with failing(span):
                yield
        finally:
            span.end()

    def taken_by(self, commit: Span) -> None:
        """End the wait, unless an earlier commit has: that one was repeated."""
        if self._span.is_recording():
            self._span.add_link(commit.get_span_context())
            self._span.end()

    def ended(self, outcome: object) -> None:
        """End the wait of a command that no commit has taken."""
        if self._span.is_recording():
            if isinstance(outcome, Exception):
                self._span.set_attribute("error.type", error_type(outcome))
            self._span.end()


@contextmanager
def failing(span: Span) -> Iterator[None]:
    """Say how a block fails: by the code of a refusal, which is no error of a span."""
    try:
        yield
    except ServiceError as refusal:
        span.set_attribute("error.type", refusal.code)
        raise
    except BaseException as error:
        fail(span, error_type(error))
        raise


def error_type(error: BaseException) -> str:
    if isinstance(error, ServiceError):
        return error.code
    sqlstate = getattr(error, "sqlstate", None)
    return sqlstate if isinstance(sqlstate, str) else type(error).__qualname__


def fail(span: Span, error: str) -> None:
    """Mark a span as failed, without a description: it could hold a value."""
    span.set_attribute("error.type", error)
    span.set_status(Status(StatusCode.ERROR))
