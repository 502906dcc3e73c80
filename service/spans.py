"""The span of the request under way, and what makes spans; none without an exporter.

:mod:`service.tracing` has what is described here.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Final, Protocol, Self

NOT_TRACED: Final = nullcontext()


class QueueSpan(Protocol):
    """The wait of a command for the commit that takes it."""

    def committing(
        self, waiting: Sequence[Self], commands: int
    ) -> AbstractContextManager[None]:
        """Trace a block that commits a batch of commands, of which some are traced."""

    def ended(self, outcome: object) -> None:
        """End the wait of a command that no commit has taken."""


class RequestSpan(Protocol):
    """The span of an HTTP request."""

    @property
    def has_ended(self) -> bool: ...

    @property
    def traceparent(self) -> str:
        """What the events of the request are recorded with, for those who follow."""

    def deciding(self) -> AbstractContextManager[None]:
        """Trace a block that decides a command."""

    def waiting_for_commit(self) -> QueueSpan:
        """Trace the wait of a command in the queue, from now on."""

    def record_response(self, status: int, request_id: str | None) -> None: ...


class Spans(Protocol):
    """Makes the spans of requests, followers and the relay."""

    def request(
        self, method: str, route: str | None, headers: Mapping[str, str]
    ) -> AbstractContextManager[RequestSpan]:
        """Trace a block that answers a request; ``headers`` are its trace context."""

    def follower_step(
        self, follower: str, traceparents: Iterable[str], upto: int, started_ns: int
    ) -> AbstractContextManager[None]:
        """Trace a block that applies events, in the traces that they come from."""

    def transaction(
        self, topic: str, traceparents: Iterable[str], messages: int, upto: int
    ) -> AbstractContextManager[None]:
        """Trace a block that publishes messages, in the traces that they come from."""


# None also for a request that isn't sampled, which then costs no more.
REQUEST_SPAN: ContextVar[RequestSpan | None] = ContextVar("request span", default=None)


def current_request() -> RequestSpan | None:
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


def waiting_for_commit() -> QueueSpan | None:
    """Trace the wait of a command in the queue, until a commit takes it."""
    span = current_request()
    return None if span is None else span.waiting_for_commit()


def committing(
    waiting: Sequence[QueueSpan], commands: int
) -> AbstractContextManager[None]:
    """Trace a block that commits commands, of which some are traced."""
    return waiting[0].committing(waiting, commands) if waiting else NOT_TRACED
