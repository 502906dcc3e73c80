"""Connections above the limit are answered with 503, and closed."""

import asyncio
import resource
from dataclasses import dataclass, field
from typing import Final, cast
from uuid import uuid4

from prometheus_client import Counter

from service.http.envelope import Answer, render

CONNECTIONS_MAX: Final = 10_000
# For the database, the logs, Kafka, and connections that are being refused.
FILES_RESERVED: Final = 128
# A client that hasn't sent its request by then is disconnected without an answer.
CLOSE_GRACE_S: Final = 0.5
REFUSALS_MAX: Final = 32

REFUSED = Counter(
    "agent_runtime_connections_refused_total",
    "Connections refused beyond 10,000, or beyond what the limit of open files allows.",
)


def connections_max() -> int:
    """Return how many connections leave enough file descriptors for all else."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return CONNECTIONS_MAX
    return max(1, min(CONNECTIONS_MAX, files - FILES_RESERVED))


@dataclass(slots=True)
class ConnectionLimit:
    """The limit of one server; ``refusing`` counts refused connections still open."""

    connections_max: int = field(default_factory=connections_max)
    refusing: int = 0


class OverloadProtocol(asyncio.Protocol):
    """Answers any request on a connection above the limit with 503.

    Otherwise the operating system would let clients wait without an end, and the
    service would run out of file descriptors for its database.
    """

    def __init__(self, limit: ConnectionLimit) -> None:
        self._limit = limit
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        REFUSED.inc()
        # uvloop's transports are no subclasses of asyncio's.
        self._transport = cast("asyncio.Transport", transport)
        self._limit.refusing += 1
        if self._limit.refusing > REFUSALS_MAX:
            self._transport.abort()
            return
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(CLOSE_GRACE_S, self._transport.abort)

    def data_received(self, data: bytes) -> None:  # noqa: ARG002 # any request
        if not self._transport.is_closing():
            self._transport.write(_response())
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._limit.refusing -= 1
        if self._timer is not None:
            self._timer.cancel()


def _response() -> bytes:
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
