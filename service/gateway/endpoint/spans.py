"""Spans of tool calls by OpenTelemetry's conventions for MCP, exported over OTLP.

A SERVER span for the agent's call and a CLIENT span for the upstream's part of it.
Without arguments, results, credentials or an upstream's path and texts.

https://github.com/open-telemetry/semantic-conventions-genai has the conventions.
Imported only where an endpoint is configured.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    Span,
    SpanKind,
    Tracer,
    get_current_span,
    set_span_in_context,
)

from service.errors import ServiceError
from service.gateway.endpoint.traces import TracedCall
from service.gateway.gate import Admission
from service.gateway.protocol.errors import RpcError
from service.gateway.upstream.errors import UpstreamError
from service.http.errors import status_of
from service.http.trace_context import TraceContext
from service.spans import current_request
from service.tracing.request_span import RequestSpan, fail
from service.tracing.tracing import PROPAGATOR

METHOD: Final = "tools/call"
CANCELLED: Final = "cancelled"
TOOL_ERROR: Final = "tool_error"
ID_CHARACTERS_MAX: Final = 256
# Attributes of every span.
COMMON: Final = {
    "mcp.method.name": METHOD,
    "gen_ai.operation.name": "execute_tool",
    "network.transport": "tcp",
    "network.protocol.name": "http",
}
PORTS: Final = {"http": 80, "https": 443}


class CallSpans:
    """Makes the spans of calls; implements CallTraces."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    @contextmanager
    def received(self, traced: TracedCall) -> Iterator["CallSpan"]:
        parent, links = _parent(traced.context)
        span = self._tracer.start_span(
            # A name that isn't listed could be anything.
            METHOD if traced.tool is None else f"{METHOD} {traced.tool}",
            context=parent,
            kind=SpanKind.SERVER,
            attributes=_present(
                {
                    **COMMON,
                    "gen_ai.tool.name": traced.tool,
                    "gen_ai.agent.id": str(traced.agent_id),
                    "jsonrpc.request.id": str(traced.id)[:ID_CHARACTERS_MAX],
                    "mcp.protocol.version": traced.revision,
                    "session.id": traced.context.session_id,
                }
            ),
            links=links,
            record_exception=False,
            set_status_on_exception=False,
        )
        with _ending(span):
            yield CallSpan(self._tracer, span)


class CallSpan:
    """The SERVER span of a call; implements CallTrace."""

    def __init__(self, tracer: Tracer, span: Span) -> None:
        self._tracer = tracer
        self._span = span

    def admitted(self, admitted: Admission) -> None:
        self._span.set_attributes(_of_admitted(admitted))

    @contextmanager
    def forwarded(
        self, admitted: Admission, revision: str
    ) -> Iterator["ForwardedSpan"]:
        url = urlsplit(admitted.upstream.url)
        span = self._tracer.start_span(
            f"{METHOD} {admitted.definition.name}",
            context=set_span_in_context(self._span, Context()),
            kind=SpanKind.CLIENT,
            attributes={
                **COMMON,
                **_of_admitted(admitted),
                "gen_ai.tool.name": admitted.definition.name,
                "mcp.protocol.version": revision,
                "server.address": url.hostname or "",
                "server.port": url.port or PORTS.get(url.scheme, 0),
            },
            record_exception=False,
            set_status_on_exception=False,
        )
        with _ending(span):
            yield ForwardedSpan(span)

    def ended(self, result: Mapping[str, Any]) -> None:
        if result.get("isError") is True:
            _fail(self._span, TOOL_ERROR)


class ForwardedSpan:
    """The CLIENT span of a call; implements ForwardedTrace."""

    def __init__(self, span: Span) -> None:
        self._span = span

    @property
    def context(self) -> Mapping[str, str]:
        carrier: dict[str, str] = {}
        PROPAGATOR.inject(carrier, set_span_in_context(self._span, Context()))
        return carrier

    def sent(self, request_id: int) -> None:
        self._span.set_attribute("jsonrpc.request.id", str(request_id))

    def record_answer(self, message: Mapping[str, Any]) -> None:
        error, result = message.get("error"), message.get("result")
        if isinstance(error, dict) and isinstance(code := error.get("code"), int):
            _fail(self._span, str(code), code)
        elif isinstance(result, dict) and result.get("isError") is True:
            _fail(self._span, TOOL_ERROR)


def _parent(given: TraceContext) -> tuple[Context, list[Link]]:
    """Return the context of the message, with a link to that of its HTTP request."""
    of_message = PROPAGATOR.extract(given.of_message, Context())
    request = current_request()
    if isinstance(request, RequestSpan):
        of_http = set_span_in_context(request.span, Context())
    else:
        of_http = PROPAGATOR.extract(given.of_http, Context())
    transport = get_current_span(of_http).get_span_context()
    if "traceparent" not in given.of_message:
        return of_http, []
    return of_message, [Link(transport)] if transport.is_valid else []


@contextmanager
def _ending(span: Span) -> Iterator[None]:
    try:
        yield
    except RpcError as error:
        _fail(span, str(error.code), error.code)
        raise
    except UpstreamError as error:
        _fail(span, error.outcome.value)
        raise
    except ServiceError as error:
        _fail(span, str(status_of(error)))
        raise
    except TimeoutError:
        _fail(span, "timeout")
        raise
    except (asyncio.CancelledError, ConnectionError):
        _fail(span, CANCELLED)
        raise
    except BaseException as error:
        _fail(span, type(error).__qualname__)
        raise
    finally:
        span.end()


def _fail(span: Span, error: str, code: int | None = None) -> None:
    fail(span, error)
    if code is not None:
        span.set_attribute("rpc.response.status_code", str(code))


def _of_admitted(admitted: Admission) -> dict[str, str]:
    return {
        "agent_runtime.call.id": str(admitted.call_id),
        "agent_runtime.connector.id": str(admitted.upstream.connector_id),
    }


def _present(attributes: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in attributes.items() if value is not None}
