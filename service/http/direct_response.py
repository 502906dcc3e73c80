"""A response of bytes that are known, sent without aiohttp's general preparation."""

import asyncio
import time
from collections.abc import AsyncIterator
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import Final

from aiohttp import HttpVersion11, hdrs, http_writer, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.client_exceptions import ClientConnectionResetError

# A copy of this much behind the head takes longer than a list of both.
LARGE_BYTES: Final = 64 * 1024
# A larger body is sent in parts of this size: sending many megabytes at once, of
# several answers, holds the event loop.
PART_BYTES: Final = 1024 * 1024
# Renders a head; without it aiohttp sends large answers too, with a copy of the body.
_HEAD: Final = getattr(http_writer, "_serialize_headers", None)
BODILESS: Final = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})


class DirectResponse(web.Response):
    """Sends head and body as soon as it is prepared.

    aiohttp first looks for cookies, compression, chunks, other versions of HTTP and
    handlers of a signal, by a coroutine for each step. A response that has or needs any
    of these is sent by aiohttp. The edge sets ``Server``, and closes connections. A
    large body is sent in parts, as its client reads.
    """

    _is_sent = False

    @property
    def prepared(self) -> bool:
        return self._is_sent or super().prepared

    @property
    def keep_alive(self) -> bool | None:
        return self._is_sent or super().keep_alive

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        body = self.body
        if not isinstance(body, bytes) or not self._is_usual(request):
            if isinstance(body, bytes) and len(body) > PART_BYTES:
                self.headers[hdrs.CONTENT_LENGTH] = str(len(body))
                self.body = _parts(body)
            return await super().prepare(request)
        headers = self.headers
        headers[hdrs.CONTENT_LENGTH] = str(len(body))
        headers[hdrs.DATE] = _date(int(time.time()))
        self._is_sent = True
        status_line = f"HTTP/1.1 {self.status} {self.reason}"
        writer = request.writer
        if len(body) > PART_BYTES:
            await writer.write_headers(status_line, headers)
            async for part in _parts(body):
                await writer.write(part)
            await writer.write_eof()
        elif len(body) > LARGE_BYTES and _HEAD is not None:
            _send_uncopied(request, _HEAD(status_line, headers), body)
            await writer.write_eof()
            await writer.drain()
        else:
            await writer.write_headers(status_line, headers)
            await writer.write_eof(body)
        return None

    async def write_eof(self, data: bytes = b"") -> None:
        if not self._is_sent:
            await super().write_eof(data)

    def _is_usual(self, request: web.BaseRequest) -> bool:
        return (
            not self.prepared
            and self.status not in BODILESS
            and request.method != hdrs.METH_HEAD
            and request.version == HttpVersion11
            and request.keep_alive
            # Until it is decided that the connection is closed.
            and self.keep_alive is None
            and not self.chunked
            and not self.compression
            # Its property would make an empty one. Without it, aiohttp decides.
            and getattr(self, "_cookies", True) is None
        )


def _send_uncopied(request: web.BaseRequest, head: bytes, body: bytes) -> None:
    """Send head and body by one call of the system, which takes a list of buffers.

    With a call for each, clients wake up for the head alone and then again.
    """
    transport = request.transport
    if transport is None or transport.is_closing():
        raise ClientConnectionResetError("the client has left")
    transport.writelines((head, body))


async def _parts(body: bytes) -> AsyncIterator[bytes]:
    for first in range(0, len(body), PART_BYTES):
        yield body[first : first + PART_BYTES]
        await asyncio.sleep(0)


@lru_cache(1)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)
