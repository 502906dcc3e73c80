"""Read what an upstream answers, within bounds."""

import re
from collections.abc import AsyncIterator
from typing import Any, Final

import aiohttp
import orjson

from service.gateway.protocol.events import EventParser, EventTooLargeError
from service.gateway.protocol.revisions import EVENT_STREAM, JSON
from service.gateway.upstream.errors import ENDED, too_large, unusable
from service.pacing import Pace

ANSWER_BYTES_MAX: Final = 8 * 1024 * 1024
# Larger ones are counted before they are parsed, which holds the event loop.
BYTES_UNCOUNTED_MAX: Final = 256 * 1024
VALUES_MAX: Final = 50_000


class Answer:
    """The response to one request; ``bytes_read`` is how much of it was received."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.response = response
        self.bytes_read = 0

    @property
    def status(self) -> int:
        return self.response.status

    async def messages(self) -> AsyncIterator[dict[str, Any]]:
        """Yield the messages: one of a JSON body, or those of an event stream.

        :raises UpstreamError: too large, or not MCP
        """
        kind = self.response.content_type
        if kind == JSON:
            yield await _parsed(await self._whole())
        elif kind == EVENT_STREAM:
            async for data in self._events():
                yield await _parsed(data)
        else:
            raise unusable(f"status {self.status}, {kind}")

    async def _whole(self) -> bytes:
        length = self.response.content_length
        if length is not None and length > ANSWER_BYTES_MAX:
            raise too_large(f"{length} bytes")
        chunks = [chunk async for chunk in self._chunks()]
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def _events(self) -> AsyncIterator[bytes]:
        parser = EventParser()
        try:
            async for chunk in self._chunks():
                for data in parser.feed(chunk):
                    yield data
        except EventTooLargeError:
            raise too_large("an event") from None
        raise unusable("the stream ended without an answer", ENDED)

    async def _chunks(self) -> AsyncIterator[bytes]:
        content = self.response.content
        while chunk := await content.readany():
            self.bytes_read += len(chunk)
            if self.bytes_read > ANSWER_BYTES_MAX:
                raise too_large(f"more than {ANSWER_BYTES_MAX} bytes")
            yield chunk


async def _parsed(data: bytes) -> dict[str, Any]:
    if len(data) > BYTES_UNCOUNTED_MAX:
        await _refuse_many_values(data)
    try:
        message = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise unusable("not JSON") from None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise unusable("not a JSON-RPC message")
    return message


async def _refuse_many_values(data: bytes) -> None:
    """Reject an answer that would hold the event loop for long; long texts don't."""
    values, end, pace = 0, 0, Pace()
    for text in _TEXTS.finditer(data):
        between = data[end : text.start()]
        values += sum(map(between.count, (b",", b"[", b"{")))
        end = text.end()
        if values > VALUES_MAX:
            break
        await pace.pause()
    values += sum(map(data[end:].count, (b",", b"[", b"{")))
    if values > VALUES_MAX:
        raise too_large(f"more than {VALUES_MAX} values")


# Possessive, and to the end where the closing quote is missing: linear in any answer.
_TEXTS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
