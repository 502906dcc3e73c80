"""The response to one request: JSON, or an event stream once something precedes it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import orjson
from aiohttp import web

from service.gateway.protocol.events import COMMENT, event_of
from service.gateway.protocol.revisions import EVENT_STREAM, JSON
from service.http.direct_response import DirectResponse
from service.http.streaming import Stream
from service.http.telemetry import add_edge_headers

# Proxies close connections that are silent for long.
KEEPALIVE_S: Final = 10.0


class Reply:
    """Sends notifications, and then the answer, of one request."""

    def __init__(self, request: web.Request) -> None:
        self._request = request
        # Sent with an answer that is no stream.
        self.headers: dict[str, str] = {}
        self._stream: Stream | None = None
        self._writing = asyncio.Lock()

    @property
    def response(self) -> web.StreamResponse | None:
        """The stream, if one has been started."""
        return self._stream.response if self._stream else None

    async def notify(self, message: dict[str, Any]) -> None:
        """Send a notification.

        :raises ConnectionError: the client has left, or doesn't read
        """
        await self._write(event_of(orjson.dumps(message)))

    async def keep_alive(self) -> None:
        """Send a comment, which clients ignore.

        :raises ConnectionError: the client has left, or doesn't read
        """
        await self._write(COMMENT)

    @asynccontextmanager
    async def kept_alive(self) -> AsyncIterator[None]:
        """Send a comment whenever the block has been silent for long."""
        loop = asyncio.get_running_loop()
        beat: asyncio.Task[None] | None = None

        def start() -> None:
            nonlocal beat
            beat = loop.create_task(self._beat(), name="MCP keep-alive")

        timer = loop.call_later(KEEPALIVE_S, start)
        try:
            yield
        finally:
            timer.cancel()
            if beat is not None:
                # Not in the middle of an event.
                async with self._writing:
                    beat.cancel()

    async def finish(self, answer: bytes, status: int = 200) -> web.StreamResponse:
        """Send the answer; its status counts unless a stream has been started."""
        if self._stream is None:
            return DirectResponse(
                body=answer, status=status, content_type=JSON, headers=self.headers
            )
        await self._stream.write(event_of(answer))
        await self._stream.response.write_eof()
        return self._stream.response

    async def end(self) -> web.StreamResponse:
        """End without an answer: the client has cancelled its request.

        :raises ConnectionError: the client has left, or doesn't read
        """
        async with self._writing:
            if self._stream is None:
                self._stream = await self._start()
            await self._stream.response.write_eof()
        return self._stream.response

    async def _beat(self) -> None:
        # The block is told by other means that the client has left.
        with suppress(ConnectionError):
            while True:
                await self.keep_alive()
                await asyncio.sleep(KEEPALIVE_S)

    async def _write(self, event: bytes) -> None:
        async with self._writing:
            if self._stream is None:
                self._stream = await self._start()
            await self._stream.write(event)

    async def _start(self) -> Stream:
        # Nginx would keep events back.
        response = web.StreamResponse(headers={"X-Accel-Buffering": "no"})
        response.content_type = EVENT_STREAM
        add_edge_headers(self._request, response)
        await response.prepare(self._request)
        return Stream(self._request, response)
