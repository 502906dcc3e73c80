"""Streaming responses: limited in number, aborted when the client doesn't read."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import NoReturn
from uuid import UUID

from aiohttp import web

from service.errors import TooManyRequestsError, UnavailableError
from service.http.authentication import PRINCIPAL
from service.http.reset import reset
from service.http.telemetry import add_edge_headers

STREAMS_MAX = 64
STREAMS_OF_USER_MAX = 8
WRITE_TIMEOUT_S = 30.0
# What an operation that streams also refuses with.
FULL = {
    429: f"the caller has {STREAMS_OF_USER_MAX} open exports and streams in this "
    "process (`too_many_streams_of_user`)",
    503: f"this process has {STREAMS_MAX} open exports and streams "
    "(`too_many_streams`), or is temporarily unavailable",
}

logger = logging.getLogger(__name__)


class SlowReaderError(ConnectionError):
    """The client has not read for ``WRITE_TIMEOUT_S``; the connection is reset."""


class StreamAbortedError(ConnectionError):
    """The service closed the connection before the end of the response."""


class Streams:
    """The open streams of one process; ``free`` is how many more may be opened."""

    def __init__(self, streams_max: int = STREAMS_MAX) -> None:
        self.free = streams_max
        self._of_user: Counter[UUID] = Counter()
        self._closing_events: set[asyncio.Event] = set()
        self.are_closing = False

    async def close(self, _app: web.Application | None = None) -> None:
        """Notify open streams that the process is stopping, so that they end."""
        self.are_closing = True
        for event in self._closing_events:
            event.set()

    @contextmanager
    def notify_on_close(self, event: asyncio.Event) -> Iterator[None]:
        """Set an event when the streams close."""
        self._closing_events.add(event)
        try:
            yield
        finally:
            self._closing_events.discard(event)

    @asynccontextmanager
    async def open(
        self, request: web.Request, content_type: str, headers: Mapping[str, str]
    ) -> AsyncIterator["Stream"]:
        """Start a response; errors after that can't change its status.

        :raises UnavailableError: too many are open already
        :raises TooManyRequestsError: the caller alone has too many open
        """
        user_id = request[PRINCIPAL].user_id
        if self._of_user[user_id] >= STREAMS_OF_USER_MAX:
            raise TooManyRequestsError(
                f"a user has at most {STREAMS_OF_USER_MAX} streams and exports open",
                code="too_many_streams_of_user",
                headers={"Retry-After": "10"},
            )
        if not self.free:
            raise UnavailableError(
                "too many streams and exports are open",
                code="too_many_streams",
                headers={"Retry-After": "10"},
            )
        self.free -= 1
        self._of_user[user_id] += 1
        try:
            response = web.StreamResponse(headers=dict(headers))
            response.content_type = content_type
            response.charset = "utf-8"
            add_edge_headers(request, response)
            await response.prepare(request)
            try:
                yield Stream(request, response)
                await response.write_eof()
            except ConnectionError:
                # The client has disconnected, or was disconnected.
                return
            except Exception:
                # The client must see that the response is incomplete.
                logger.exception("a stream failed")
                _abort(request)
        finally:
            self.free += 1
            self._of_user[user_id] -= 1
            if not self._of_user[user_id]:
                del self._of_user[user_id]


STREAMS = web.AppKey("streams", Streams)


class Stream:
    """A response that has been started."""

    def __init__(self, request: web.Request, response: web.StreamResponse) -> None:
        self._request = request
        self._wrote_at = time.monotonic()
        self.response = response

    @property
    def idle_s(self) -> float:
        """Seconds since the last write."""
        return time.monotonic() - self._wrote_at

    def abort(self) -> NoReturn:
        """Close the connection, so that the client sees an incomplete response.

        :raises StreamAbortedError: always
        """
        _abort(self._request)
        raise StreamAbortedError("the stream was aborted")

    async def write(self, data: bytes) -> None:
        """Send bytes, with back-pressure from the client.

        :raises SlowReaderError: the client has not read for ``WRITE_TIMEOUT_S``
        """
        try:
            async with asyncio.timeout(WRITE_TIMEOUT_S):
                await self.response.write(data)
            self._wrote_at = time.monotonic()
        except TimeoutError:
            if self._request.transport is not None:
                reset(self._request.transport)
            raise SlowReaderError("the stream is not being read") from None


def _abort(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
