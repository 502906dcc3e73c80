"""Server-sent events, as both sides of the gateway use them."""

from collections.abc import Iterator
from typing import Final

EVENT_BYTES_MAX: Final = 1024 * 1024
# Bounds the lines of a whole stream: each costs something, also an empty one.
LINES_MAX: Final = 250_000
COMMENT: Final = b":\n\n"
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class EventTooLargeError(Exception):
    """An event has more bytes than allowed, or a stream ``LINES_MAX`` lines."""


class EventParser:
    """Finds the data of ``message`` events in chunks of a stream."""

    def __init__(self, event_bytes_max: int = EVENT_BYTES_MAX) -> None:
        self._event_bytes_max = event_bytes_max
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._bytes = 0
        self._lines = 0
        self._is_message = True
        # A "\n" that follows is of the same line's end.
        self._is_after_cr = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the data of the events that this chunk completes.

        :raises EventTooLargeError: one is too large, or there are too many lines
        """
        self._bytes += len(chunk)
        if self._is_after_cr and chunk:
            self._is_after_cr = False
            chunk = chunk.removeprefix(b"\n")
        self._rest += chunk
        # A long line in many chunks is searched once.
        if b"\n" in chunk or b"\r" in chunk:
            lines = self._rest.splitlines(keepends=True)
            is_whole = lines[-1].endswith((b"\n", b"\r"))
            self._is_after_cr = lines[-1].endswith(b"\r")
            self._rest = bytearray() if is_whole else lines.pop()
            if not self._lines:
                lines[0] = lines[0].removeprefix(BYTE_ORDER_MARK)
            self._lines += len(lines)
            if self._lines > LINES_MAX:
                raise EventTooLargeError
            for line in lines:
                data = self._take(bytes(line).rstrip(b"\r\n"))
                if data:
                    yield data
        if self._bytes > self._event_bytes_max:
            raise EventTooLargeError

    def _take(self, line: bytes) -> bytes:
        if line:
            name, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if name == b"data":
                self._data.append(value)
            elif name == b"event":
                self._is_message = value in (b"message", b"")
            return b""
        data = b"\n".join(self._data) if self._is_message else b""
        self._data, self._is_message = [], True
        self._bytes = len(self._rest)
        return data


def event_of(data: bytes) -> bytes:
    """Return the event of a message without line breaks, which ours are."""
    return b"event: message\ndata: " + data + b"\n\n"
