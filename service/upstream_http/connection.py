"""An HTTP/1.1 connection to an upstream, which carries one request at a time."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final, cast

import httptools

from service.upstream_http.response import (
    HeadTooLargeError,
    NotHttpError,
    Response,
)

# Shorter than what servers keep, so that they hardly ever close first.
KEEPALIVE_S: Final = 4.0
# Bounds the head, and what stands between two parts of a body, trailers too.
HEAD_BYTES_MAX: Final = 64 * 1024
# After more at once, other connections have their turn. libuv would read 32 times.
TURN_BYTES_MAX: Final = 64 * 1024


class Connection(asyncio.Protocol):
    """Sends requests, each when the one before was answered.

    ``on_idle`` is called when it can carry another request, ``on_lost`` at its end.
    ``silence_s`` without a byte, before an answer or between its parts, end it.
    """

    def __init__(
        self,
        on_idle: Callable[["Connection"], None],
        on_lost: Callable[["Connection"], None],
        silence_s: float,
    ) -> None:
        self._on_idle = on_idle
        self._on_lost = on_lost
        # As long as is usual; one answer may be allowed another time.
        self._usual_silence_s = self._silence_s = silence_s
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        self._response: Response | None = None
        # Bytes since the head's end, or the last one of a body.
        self._between = 0
        self._trailer_bytes = 0
        # Of the body, found by the parser and not handed over yet.
        self._pieces: list[bytes] = []
        self._has_ended = False
        self._heard_at = 0.0
        self._is_reusable = True
        self._is_paused = False
        self._is_resting = False
        self._is_closed_here = False
        self._is_reserved = False
        # The number of the last one; a call may end when another has reserved it.
        self.reservation = 0
        self._is_new = True
        # For how many answers the upstream waits.
        self._owed = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._heard_at = self._loop.time()
        self._timer = self._loop.call_later(
            min(KEEPALIVE_S, self._silence_s), self._tick
        )

    def send(self, request: bytes) -> Response:
        """Send a request, whole."""
        assert self._response is None
        self._is_reserved = self._is_new = False
        self._response = Response(self)
        self._between = self._trailer_bytes = 0
        self._has_ended = False
        self._silence_s = self._usual_silence_s
        self._heard_at = self._loop.time()
        self._transport.write(request)
        return self._response

    @property
    def is_usable(self) -> bool:
        """Whether the upstream still expects a request.

        Nobody waits for long while a first request may still come.
        """
        if self._transport.is_closing():
            return False
        return self._is_new or self._loop.time() - self._heard_at < KEEPALIVE_S

    def reserve(self) -> None:
        """Keep it open for a request that is about to be sent."""
        self._is_reserved = True
        self.reservation += 1

    def release(self, reservation: int) -> None:
        """Give it back, unless the request that it was reserved for was sent."""
        if not self._is_reserved or reservation != self.reservation:
            return
        self._is_reserved = False
        if self.is_usable:
            self._on_idle(self)
        else:
            self.close()

    def allow_silence(self, silence_s: float) -> None:
        """Until the next request, end it after so many seconds without a byte."""
        self._silence_s = silence_s
        self._timer.cancel()
        self._timer = self._loop.call_later(min(KEEPALIVE_S, silence_s), self._tick)

    def pause(self) -> None:
        """Receive nothing more until what has arrived was taken."""
        if not self._is_paused:
            self._is_paused = True
            self._set_reading()

    def resume(self) -> None:
        """Go on to receive: what had arrived was taken."""
        if self._is_paused and not self._transport.is_closing():
            self._is_paused = False
            self._heard_at = self._loop.time()
            self._set_reading()

    @contextmanager
    def silence_allowed(self) -> Iterator[None]:
        """During the block, the upstream waits for an answer, and may say nothing."""
        self._owed += 1
        try:
            yield
        finally:
            self._owed -= 1
            self._heard_at = self._loop.time()

    def close(self) -> None:
        self._is_closed_here = True
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        self._heard_at = self._loop.time()
        response, room = self._response, HEAD_BYTES_MAX - self._between
        try:
            if len(data) > room and response is not None and not response.status:
                self._parser.feed_data(data[:room])
                data = data[room:]
                if not response.status:
                    self._fail(HeadTooLargeError())
                    return
            self._between += len(data)
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._fail(NotHttpError(type(error).__name__))
            return
        self._hand_over()
        if len(data) > TURN_BYTES_MAX and not self._is_resting:
            self._is_resting = True
            self._set_reading()
            self._loop.call_soon(self._rested)
        response = self._response
        if response is None:
            # Bytes that answer nothing: the next request mustn't get them.
            self.close()
        elif response.is_complete:
            self._response = None
            if self._is_reusable:
                self._on_idle(self)
            else:
                self.close()
        elif self._between > HEAD_BYTES_MAX:
            self._fail(HeadTooLargeError())

    def connection_lost(self, error: Exception | None) -> None:
        self._timer.cancel()
        self._on_lost(self)
        response = self._response
        if response is None:
            return
        # Without a length, a body ends when the upstream closes the connection.
        has_length = response.headers.keys() & {b"content-length", b"transfer-encoding"}
        is_end = error is None and not self._is_closed_here and not has_length
        if is_end and response.status:
            response.completed()
        else:
            response.failed(ConnectionResetError("closed before the answer's end"))

    # What the parser calls.

    def on_message_begin(self) -> None:
        if self._response is None or self._has_ended:
            self._is_reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        response = self._response
        if response is None:
            return
        if not response.status:
            response.headers.setdefault(name.lower(), value)
            response.fields.append((name, value))
            return
        if self._has_ended:
            return
        # They may come in one piece with the body's end.
        self._trailer_bytes += len(name) + len(value)
        if self._trailer_bytes > HEAD_BYTES_MAX:
            self._fail(HeadTooLargeError())

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if self._response is None or self._has_ended:
            return
        if status < HTTPStatus.OK:
            # Such as 103, before the answer.
            self._response.headers.clear()
            self._response.fields.clear()
            return
        self._between = 0
        self._is_reusable &= self._parser.should_keep_alive()
        self._response.begun(status)

    def on_body(self, piece: bytes) -> None:
        self._between = 0
        if self._response is not None and not self._has_ended:
            self._pieces.append(piece)

    def on_message_complete(self) -> None:
        if self._response is not None and self._response.status:
            self._has_ended = True

    def _hand_over(self) -> None:
        """Give the response what came at once as one piece.

        A server may send thousands of chunks of a byte, and what takes them mustn't
        raise exceptions into the parser.
        """
        response, pieces = self._response, self._pieces
        self._pieces = []
        if response is None:
            return
        if pieces:
            response.arrived(pieces[0] if len(pieces) == 1 else b"".join(pieces))
        if self._has_ended:
            response.completed()
            # Nobody resumes it for an answer that is complete.
            self.resume()

    def _rested(self) -> None:
        self._is_resting = False
        self._set_reading()

    def _set_reading(self) -> None:
        if self._transport.is_closing():
            return
        if self._is_paused or self._is_resting:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def _tick(self) -> None:
        """Close when idle or silent for long; one timer serves many requests."""
        is_idle = self._response is None
        left = self._heard_at - self._loop.time()
        left += KEEPALIVE_S if is_idle else self._silence_s
        if left > 0 or self._is_paused or self._is_reserved or self._owed:
            delay = min(KEEPALIVE_S, left) if left > 0 else KEEPALIVE_S
            self._timer = self._loop.call_later(delay, self._tick)
        elif is_idle:
            self.close()
        else:
            self._fail(TimeoutError())

    def _fail(self, error: Exception) -> None:
        self._hand_over()
        if self._response is not None:
            self._response.failed(error)
            self._response = None
        self.close()
