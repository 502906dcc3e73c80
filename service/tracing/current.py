"""The span of the request under way; there is none without an exporter."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from service.tracing.request_span import QueueSpan, RequestSpan

NOT_TRACED: Final = nullcontext()
# None also for a request that isn't sampled, which then costs no more.
REQUEST_SPAN: ContextVar["RequestSpan | None"] = ContextVar(
    "request span", default=None
)


def current_request() -> "RequestSpan | None":
    """Return the span of the request that this task answers, while it lasts."""
    span = REQUEST_SPAN.get()
    # Tasks that a request has started may outlive it.
    return None if span is None or span.has_ended else span


def current_traceparent() -> str | None:
    span = current_request()
    return None if span is None else span.traceparent


def deciding() -> AbstractContextManager[None]:
    """Trace a block that decides a command."""
    span = current_request()
    return NOT_TRACED if span is None else span.deciding()


def waiting_for_commit() -> "QueueSpan | None":
    """Trace the wait of a command in the queue, until a commit takes it."""
    span = current_request()
    return None if span is None else span.waiting_for_commit()


def committing(
    waiting: Sequence["QueueSpan"], commands: int
) -> AbstractContextManager[None]:
    """Trace a block that commits commands, of which some are traced."""
    return waiting[0].committing(waiting, commands) if waiting else NOT_TRACED
