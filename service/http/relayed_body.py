"""The body of a response, written in the moment that its pieces arrive."""

import asyncio
from typing import Final

from aiohttp import hdrs, web

from service.http.reset import reset
from service.http.server import LAST_CHUNK
from service.http.streaming import WRITE_TIMEOUT_S, SlowReaderError

# Beyond, a copy of the piece costs more than another buffer.
_COPIED_BYTES_MAX: Final = 16 * 1024


class RelayedBody:
    """Writes pieces of a response that has been prepared, without a task of their own.

    aiohttp's ``write`` is a coroutine, which only a task can call. The end is the
    response's ``write_eof``.
    """

    def __init__(self, request: web.Request, response: web.StreamResponse) -> None:
        transport = request.transport
        if transport is None:
            raise ConnectionResetError("the client has left")
        self._transport = transport
        self._writer = request.writer
        # Decided when the response was prepared; HTTP/1.0 has no chunks.
        self._is_chunked = response.headers.get(hdrs.TRANSFER_ENCODING) == "chunked"

    def take(self, piece: bytes) -> int:
        """Send a piece; return how many bytes the client hasn't received yet.

        One for a client that has left is dropped: its handler is told otherwise.
        """
        transport = self._transport
        if transport.is_closing() or not piece:
            return 0
        if not self._is_chunked:
            transport.write(piece)
        elif len(piece) > _COPIED_BYTES_MAX:
            transport.writelines((b"%x\r\n" % len(piece), piece, b"\r\n"))
        else:
            transport.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        return transport.get_write_buffer_size()

    def end(self) -> None:
        """Send the end of the response, and close its connection, without waiting.

        For a handler that is being cancelled; the response can't be used any more.
        """
        if self._is_chunked:
            self._transport.write(LAST_CHUNK)
        self.cut()

    def cut(self) -> None:
        """Close the connection before the response's end, and so that it shows."""
        if self._is_chunked:
            self._transport.close()
            # It waits for a client that doesn't read.
            loop = asyncio.get_running_loop()
            loop.call_later(WRITE_TIMEOUT_S, reset, self._transport)
        else:
            # For a client of HTTP/1.0, the end of a connection is that of a body.
            reset(self._transport)

    async def drained(self) -> None:
        """Wait until the client has received most of it.

        :raises SlowReaderError: it has received nothing for ``WRITE_TIMEOUT_S``
        """
        while True:
            unsent = self._transport.get_write_buffer_size()
            try:
                async with asyncio.timeout(WRITE_TIMEOUT_S):
                    return await self._writer.drain()
            except TimeoutError:
                if self._transport.get_write_buffer_size() >= unsent:
                    reset(self._transport)
                    raise SlowReaderError("the stream is not being read") from None
