"""Makes the spans of requests, followers and the relay."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Final

from opentelemetry.context import Context
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    SpanKind,
    Tracer,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from service import __version__
from service.spans import REQUEST_SPAN
from service.tracing.request_span import RequestSpan, failing

PROPAGATOR: Final = TraceContextTextMapPropagator()
# Others would be up to the client.
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
OTHER_METHOD: Final = "_OTHER"
# As many as a span has by default; a batch can have thousands.
LINKS_MAX: Final = 128


class Tracing:
    """Makes spans by OpenTelemetry's conventions.

    Their attributes hold no body, no query, no path but a route's template, no header
    but trace context, and nobody's name.
    """

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = self.tracer("agent-runtime")

    def tracer(self, scope: str) -> Tracer:
        return self._provider.get_tracer(scope, __version__)

    @contextmanager
    def request(
        self, method: str, route: str | None, headers: Mapping[str, str]
    ) -> Iterator[RequestSpan]:
        """Trace a block that answers a request; ``headers`` are its trace context."""
        known = method if method in METHODS else OTHER_METHOD
        attributes = {"http.request.method": known, "url.scheme": "http"}
        if route is not None:
            attributes["http.route"] = route
        name = method if method in METHODS else "HTTP"
        span = self._tracer.start_span(
            name if route is None else f"{name} {route}",
            context=PROPAGATOR.extract(headers, Context()) if headers else Context(),
            kind=SpanKind.SERVER,
            attributes=attributes,
        )
        traced = RequestSpan(self._tracer, span)
        before = REQUEST_SPAN.set(traced if span.is_recording() else None)
        try:
            with failing(span):
                yield traced
        finally:
            REQUEST_SPAN.reset(before)
            span.end()

    @contextmanager
    def follower_step(
        self, follower: str, traceparents: Iterable[str], upto: int, started_ns: int
    ) -> Iterator[None]:
        """Trace a block that applies events, in the traces that they come from."""
        with self._of_events(
            f"follower {follower}",
            traceparents,
            SpanKind.INTERNAL,
            {
                "agent_runtime.follower.name": follower,
                "agent_runtime.log.position": upto,
            },
            started_ns,
        ):
            yield

    @contextmanager
    def transaction(
        self, topic: str, traceparents: Iterable[str], messages: int, upto: int
    ) -> Iterator[None]:
        """Trace a block that publishes messages, in the traces that they come from."""
        with self._of_events(
            f"send {topic}",
            traceparents,
            SpanKind.CLIENT,
            {
                "messaging.system": "kafka",
                "messaging.operation.name": "send",
                "messaging.operation.type": "send",
                "messaging.destination.name": topic,
                "messaging.batch.message_count": messages,
                "agent_runtime.log.position": upto,
            },
        ):
            yield

    @contextmanager
    def _of_events(
        self,
        name: str,
        traceparents: Iterable[str],
        kind: SpanKind,
        attributes: Mapping[str, str | int],
        started_ns: int | None = None,
    ) -> Iterator[None]:
        """Trace a block in the trace of the first sampled event, linked to all."""
        links = _links(traceparents)
        if not links:
            yield
            return
        parent = NonRecordingSpan(links[0].context)
        span = self._tracer.start_span(
            name,
            context=set_span_in_context(parent, Context()),
            kind=kind,
            links=links,
            attributes=attributes,
            start_time=started_ns,
        )
        try:
            with failing(span):
                yield
        finally:
            span.end()


def _links(traceparents: Iterable[str]) -> list[Link]:
    """Return links to the first sampled contexts, each once."""
    contexts = (
        get_current_span(
            PROPAGATOR.extract({"traceparent": each}, Context())
        ).get_span_context()
        for each in dict.fromkeys(traceparents)
    )
    sampled = (each for each in contexts if each.is_valid and each.trace_flags.sampled)
    return [Link(each) for each in islice(sampled, LINKS_MAX)]
