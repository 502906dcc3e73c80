"""Answers of any length: bounded in number, and cut off when nobody reads them."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager

from aiohttp import web

from service.errors import UnavailableError
from service.http.telemetry import add_edge_headers

STREAMS_MAX = 64
WRITE_TIMEOUT_S = 30.0

logger = logging.getLogger(__name__)


class SlowReaderError(ConnectionError):
    """What was sent has not been read for too long; the connection is closed."""


class Streams:
    """The streaming answers of one process."""

    def __init__(self, streams_max: int = STREAMS_MAX) -> None:
        self._places = streams_max
        self._bells: set[asyncio.Event] = set()
        self.are_closing = False

    async def close(self, _app: web.Application | None = None) -> None:
        """Wake the streams that have no end of their own, for them to end."""
        self.are_closing = True
        for bell in self._bells:
            bell.set()

    @contextmanager
    def woken(self, bell: asyncio.Event) -> Iterator[None]:
        """Have an event set when streams close."""
        self._bells.add(bell)
        try:
            yield
        finally:
            self._bells.discard(bell)

    @asynccontextmanager
    async def open(
        self, request: web.Request, content_type: str, headers: Mapping[str, str]
    ) -> AsyncIterator["Stream"]:
        """Begin an answer; whatever happens then can't change its status.

        :raises UnavailableError: too many are open already
        """
        if not self._places:
            raise UnavailableError(
                "too many streams and exports are open",
                code="too_many_streams",
                headers={"Retry-After": "10"},
            )
        self._places -= 1
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
                # Whoever asked is gone, or was cut off.
                return
            except Exception:
                # What has begun as a success must not seem to be complete.
                logger.exception("a stream broke off")
                _abort(request)
        finally:
            self._places += 1


STREAMS = web.AppKey("streams", Streams)


class Stream:
    """One answer that has begun."""

    def __init__(self, request: web.Request, response: web.StreamResponse) -> None:
        self._request = request
        self._wrote_at = time.monotonic()
        self.response = response

    @property
    def idle_s(self) -> float:
        """How long ago something was sent."""
        return time.monotonic() - self._wrote_at

    async def write(self, data: bytes) -> None:
        """Send some bytes, at the pace of whoever reads them.

        :raises SlowReaderError: nobody has read for ``WRITE_TIMEOUT_S``
        """
        try:
            async with asyncio.timeout(WRITE_TIMEOUT_S):
                await self.response.write(data)
            self._wrote_at = time.monotonic()
        except TimeoutError:
            _abort(self._request)
            raise SlowReaderError("the stream is not being read") from None


def _abort(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
