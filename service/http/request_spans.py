"""A span for each request, where an exporter is configured."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from aiohttp import web

from service.http.telemetry import REQUEST_ID, route_of, valid_traceparent
from service.spans import Spans

# Monitoring asks them every few seconds.
UNTRACED: Final = frozenset({"/livez", "/readyz", "/metrics"})

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def tracing_requests(traces: Spans) -> Any:
    """Return a middleware that traces what those after it answer."""

    @web.middleware
    async def trace(request: web.Request, handler: Handler) -> web.StreamResponse:
        route = route_of(request)
        if route in UNTRACED:
            return await handler(request)
        with traces.request(request.method, route, _trace_context(request)) as span:
            response = await handler(request)
            span.record_response(response.status, request.get(REQUEST_ID))
            return response

    return trace


def _trace_context(request: web.Request) -> dict[str, str]:
    """Return the valid trace context of a request; its baggage is not used."""
    headers = request.headers
    traceparent = valid_traceparent(headers.get("traceparent"))
    if traceparent is None:
        return {}
    return {"traceparent": traceparent, "tracestate": headers.get("tracestate", "")}
