"""Refuse connections beyond what the process can keep open."""

import asyncio
import resource
from typing import Final
from uuid import uuid4

from prometheus_client import Counter

from service.http.envelope import Answer, render

CONNECTIONS_MAX: Final = 10_000
# For the database, the logs, Kafka, and refusals under way.
FILES_KEPT_FREE: Final = 128
# A client that hasn't sent its request by then is not told.
FAREWELL_S: Final = 0.5
FAREWELLS_MAX: Final = 32

REFUSED = Counter(
    "agent_runtime_connections_refused_total", "Connections beyond the bound."
)


def connections_max() -> int:
    """Return how many connections leave room for all else that needs a file."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return CONNECTIONS_MAX
    return max(1, min(CONNECTIONS_MAX, files - FILES_KEPT_FREE))


class Crowded(asyncio.Protocol):
    """A connection too many: any request on it is answered with 503.

    Without that, the operating system would let clients wait for ever, and take the
    files that the service needs to reach its database.
    """

    _farewells = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        REFUSED.inc()
        self._transport = transport
        Crowded._farewells += 1
        if Crowded._farewells > FAREWELLS_MAX:
            transport.abort()
            return
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(FAREWELL_S, transport.abort)

    def data_received(self, data: bytes) -> None:  # noqa: ARG002 # whatever it asks
        if not self._transport.is_closing():
            self._transport.write(_answer())
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        Crowded._farewells -= 1
        if timer := getattr(self, "_timer", None):
            timer.cancel()


def _answer() -> bytes:
    request_id = uuid4().hex
    body = render(
        Answer(
            status=503,
            message="there are too many connections",
            data={"code": "overloaded", "errors": [], "request_id": request_id},
        )
    )
    head = (
        "HTTP/1.1 503 Service Unavailable",
        "Content-Type: application/json; charset=utf-8",
        f"Content-Length: {len(body)}",
        "Connection: close",
        "Retry-After: 1",
        "Cache-Control: no-store",
        "X-Content-Type-Options: nosniff",
        f"X-Request-Id: {request_id}",
        "Server: agent-runtime",
    )
    return "\r\n".join([*head, "", ""]).encode() + body
