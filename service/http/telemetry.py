"""Request ids, the log line of each request, and HTTP metrics."""

import logging
import os
import re
from collections import deque
from functools import cache

from aiohttp import web
from prometheus_client import Counter, Histogram

from service.http.client_address import address_of
from service.logs import FieldsRecord

REQUEST_ID = web.RequestKey("request_id", str)
TRACEPARENT = web.RequestKey("traceparent", str)

REQUESTS = Histogram(
    "http_server_request_duration_seconds",
    "Time from receiving a request's head to sending its response. The method is "
    "_OTHER for an unknown one.",
    ["http_request_method", "http_route", "http_response_status_code"],
    # A series for each bucket of each operation and status: a few buckets.
    buckets=(0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 5),
)
# Other methods are counted together, as a client may send any.
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
OTHER_METHOD = "_OTHER"
APPENDED = Counter(
    "agent_runtime_commands_total",
    "Commands that were accepted, by outcome: appended, nothing to do, replayed.",
    ["outcome"],
)

# Routes of the last answered requests: one of them may have held the event loop.
ANSWERED_ROUTES: deque[str] = deque(maxlen=32)
# The line of a request in text format.
LINE = "{method} {route} {status} {duration_ms:.1f} ms"

logger = logging.getLogger("agent_runtime.request")


def name_request(request: web.Request) -> None:
    """Set the request's id, and its traceparent if it has a valid one."""
    headers = request.headers
    given = headers.get("X-Request-Id")
    if given is None or not _REQUEST_ID.fullmatch(given):
        given = os.urandom(16).hex()
    request[REQUEST_ID] = given
    traceparent = valid_traceparent(headers.get("traceparent"))
    if traceparent is not None:
        request[TRACEPARENT] = traceparent


def valid_traceparent(given: object) -> str | None:
    """Return a traceparent of W3C Trace Context; None if it isn't one."""
    if isinstance(given, str) and _TRACEPARENT.fullmatch(given):
        return given
    return None


def route_of(request: web.Request) -> str | None:
    """Return the route's template; paths would be unbounded as labels and names."""
    resource = request.match_info.route.resource
    return resource.canonical if resource else None


def add_edge_headers(request: web.BaseRequest, response: web.StreamResponse) -> None:
    """Add the headers of every response; streams do so before they are prepared."""
    headers = response.headers
    headers["X-Request-Id"] = request[REQUEST_ID]
    headers["X-Content-Type-Options"] = "nosniff"
    # aiohttp's own value names its version and Python's.
    headers["Server"] = "agent-runtime"
    # Responses depend on the caller.
    if "Cache-Control" not in headers:
        headers["Cache-Control"] = "no-store"


def record(
    request: web.Request,
    status: int,
    duration_s: float,
    *,
    actor: str | None,
    level: int,
) -> None:
    """Count a request and write its line; ``actor`` is the caller's user id."""
    route = route_of(request) or "none"
    ANSWERED_ROUTES.append(route)
    method = request.method if request.method in METHODS else OTHER_METHOD
    _durations(method, route, status).observe(duration_s)
    if logger.isEnabledFor(level):
        fields = {
            "request_id": request[REQUEST_ID],
            "method": request.method,
            "route": route,
            "status": status,
            "duration_ms": round(duration_s * 1000, 3),
            "actor": actor,
            "address": address_of(request),
        }
        logger.handle(FieldsRecord(logger, level, "request", fields, text=LINE))


def log_no_requests_of(request_id: str) -> None:
    """Write no log lines from now on for requests that have this request id.

    For good: a request is logged after its client has the answer, or has left.
    """

    def is_other(record: logging.LogRecord) -> bool:
        return (
            not isinstance(record, FieldsRecord)
            or record.fields["request_id"] != request_id
        )

    logger.addFilter(is_other)


@cache
def _durations(method: str, route: str, status: int) -> Histogram:
    return REQUESTS.labels(method, route, status)


@cache
def count_of(outcome: str) -> Counter:
    """Return the counter of commands with one outcome."""
    return APPENDED.labels(outcome)


_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_TRACEPARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
