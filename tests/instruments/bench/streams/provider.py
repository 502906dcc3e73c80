"""A provider that streams: ``python -m tests.instruments.bench.streams.provider``.

``POST /DIALECT/EVENTS/RATE`` is answered with so many deltas, so many a second.
"""

import asyncio
import time
from collections import deque
from typing import Final, cast

import uvloop

from tests.instruments.bench.streams.dialects import DIALECTS, STAMP, Dialect

HEAD: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
# Streams begin at different times of it.
TICK_S: Final = 0.001


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


class Stream(asyncio.Protocol):
    """Answers each request on a connection."""

    def __init__(self, due: "Due") -> None:
        self._due = due
        self._received = b""
        self.is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        if not end:
            return
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r")[0])
        if len(body) < length:
            return
        self._received = body[length:]
        _, name, events, rate = head.split(b" ")[1].decode().split("/")
        self.dialect: Dialect = DIALECTS[name]
        self.left = int(events)
        self.pause_s = 1 / float(rate)
        self.before, self.after = chunk(self.dialect.delta).split(STAMP)
        self.transport.write(HEAD + chunk(self.dialect.first))
        self._due.add(self)

    def connection_lost(self, _error: Exception | None) -> None:
        self.is_lost = True

    def send(self) -> bool:
        """Send the next event; return whether there are more."""
        if self.is_lost:
            return False
        if not self.left:
            self.transport.write(chunk(self.dialect.last) + b"0\r\n\r\n")
            return False
        self.left -= 1
        self.transport.write(
            b"%b%020d%b" % (self.before, time.monotonic_ns(), self.after)
        )
        return True


class Due:
    """Streams in the order of their next events; all have one rate."""

    def __init__(self) -> None:
        self._streams: deque[tuple[float, Stream]] = deque()
        self._loop = asyncio.get_running_loop()
        self._loop.call_later(TICK_S, self._tick)

    def add(self, stream: Stream) -> None:
        self._streams.append((self._loop.time() + stream.pause_s, stream))

    def _tick(self) -> None:
        now = self._loop.time()
        self._loop.call_later(TICK_S, self._tick)
        while self._streams and self._streams[0][0] <= now:
            at, stream = self._streams.popleft()
            if stream.send():
                self._streams.append((at + stream.pause_s, stream))


async def main() -> None:
    loop = asyncio.get_running_loop()
    due = Due()
    server = await loop.create_server(lambda: Stream(due), "127.0.0.1", 0, backlog=1024)
    print(f"ready at http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
