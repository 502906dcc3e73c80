"""Give each request an id, a log line and its place in the metrics."""

import logging
import re
import time
from collections.abc import Awaitable, Callable
from uuid import uuid4

from aiohttp import web
from prometheus_client import Counter, Histogram

REQUEST_ID = web.RequestKey("request_id", str)
TRACEPARENT = web.RequestKey("traceparent", str)

REQUESTS = Histogram(
    "http_server_request_duration_seconds",
    "Time from a request's head to its answer.",
    ["http_request_method", "http_route", "http_response_status_code"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
APPENDED = Counter(
    "agent_runtime_commands_total", "Commands by what became of them.", ["outcome"]
)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
logger = logging.getLogger("agent_runtime.request")


@web.middleware
async def observe(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Outermost: what happens inside, errors too, is logged and counted once."""
    started = time.perf_counter()
    given = request.headers.get("X-Request-Id", "")
    request_id = given if _REQUEST_ID.fullmatch(given) else uuid4().hex
    request[REQUEST_ID] = request_id
    traceparent = request.headers.get("traceparent", "")
    if _TRACEPARENT.fullmatch(traceparent):
        request[TRACEPARENT] = traceparent
    status = 500
    try:
        response = await handler(request)
        status = response.status
        if not response.prepared:
            add_edge_headers(request, response)
        return response
    finally:
        _record(request, status, time.perf_counter() - started)


def add_edge_headers(request: web.BaseRequest, response: web.StreamResponse) -> None:
    """Add what every answer carries; a stream does it before it is prepared."""
    headers = response.headers
    headers["X-Request-Id"] = request[REQUEST_ID]
    headers["X-Content-Type-Options"] = "nosniff"
    # Instead of aiohttp's, which names its version and Python's.
    headers["Server"] = "agent-runtime"
    # Answers depend on who asks.
    if "Cache-Control" not in headers:
        headers["Cache-Control"] = "no-store"


def _record(request: web.Request, status: int, duration_s: float) -> None:
    resource = request.match_info.route.resource
    # The template, not the path: a label must not grow with what callers send.
    route = resource.canonical if resource else "none"
    REQUESTS.labels(request.method, route, status).observe(duration_s)
    logger.info(
        "request",
        extra={
            "request_id": request[REQUEST_ID],
            "method": request.method,
            "route": route,
            "status": status,
            "duration_ms": round(duration_s * 1000, 3),
        },
    )


_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_TRACEPARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
