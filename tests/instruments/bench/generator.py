"""A load generator in one process, for what wrk can't do or where it is absent.

``python -m tests.instruments.bench.generator URL PLAN SECONDS CONNECTIONS RATE``; see
load.py. Prints ``result REQUESTS MICROSECONDS FAILED P50 P99``, latencies in
microseconds.
"""

import asyncio
import sys
import time
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import uvloop

from tests.instruments.bench.plan import Plan

HEAD_END = b"\r\n\r\n"
LENGTH = b"\r\ncontent-length: "


class Load:
    """The requests, when they are due, and what became of them."""

    def __init__(self, requests: list[bytes], seconds: float, rate: float) -> None:
        self.requests = requests
        self.started = time.perf_counter()
        self.until = self.started + seconds
        self.rate = rate
        self.sent = 0
        self.latencies: list[float] = []
        self.failed = 0

    def next_due(self) -> float | None:
        """Return when the next request is due; None when it is all over."""
        now = time.perf_counter()
        due = self.started + self.sent / self.rate if self.rate else now
        return None if due >= self.until or now >= self.until else due

    def take(self) -> bytes:
        request = self.requests[self.sent % len(self.requests)]
        self.sent += 1
        return request


class Connection(asyncio.Protocol):
    """Sends a request, waits for its whole answer, sends the next."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._answer = bytearray()
        self._due = 0.0
        self.over = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are no subclasses of asyncio's.
        self._transport = cast("asyncio.Transport", transport)
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        if not self.over.done():
            self._load.failed += 1
            self.over.set_result(None)

    def data_received(self, data: bytes) -> None:
        self._answer += data
        head, end, body = self._answer.partition(HEAD_END)
        if not end:
            return
        _, _, rest = head.lower().partition(LENGTH)
        if len(body) < int(rest.partition(b"\r\n")[0]):
            return
        self._load.latencies.append(time.perf_counter() - self._due)
        if not head.startswith((b"HTTP/1.1 2", b"HTTP/1.1 3")):
            self._load.failed += 1
        self._answer = bytearray()
        self._next()

    def _next(self) -> None:
        due = self._load.next_due()
        if due is None:
            self.over.set_result(None)
            self._transport.close()
            return
        request, self._due = self._load.take(), due
        wait_s = due - time.perf_counter()
        if wait_s > 0:
            asyncio.get_running_loop().call_later(
                wait_s, self._transport.write, request
            )
        else:
            self._transport.write(request)


async def run(
    url: str, plan: Plan, seconds: float, connections: int, rate: float
) -> None:
    address = urlsplit(url)
    host, port = address.hostname or "", address.port or 0
    headers = "".join(f"{name}: {value}\r\n" for name, value in plan.headers.items())
    requests = [
        f"{each.method} {each.path} HTTP/1.1\r\nHost: {address.netloc}\r\n{headers}"
        f"Content-Length: {len(each.body)}\r\n\r\n".encode()
        + each.body
        for each in plan.requests
    ]
    load = Load(requests, seconds, rate)
    loop = asyncio.get_running_loop()
    opened = [
        (await loop.create_connection(lambda: Connection(load), host, port))[1]
        for _ in range(connections)
    ]
    await asyncio.gather(*(each.over for each in opened))
    took_us = (time.perf_counter() - load.started) * 1e6
    latencies = sorted(load.latencies)
    p50, p99 = (latencies[int(len(latencies) * part)] * 1e6 for part in (0.5, 0.99))
    print(f"result {len(latencies)} {took_us:.0f} {load.failed} {p50:.0f} {p99:.0f}")


def main() -> None:
    url, plan, seconds, connections, rate = sys.argv[1:]
    uvloop.run(
        run(url, Plan.read(Path(plan)), float(seconds), int(connections), float(rate))
    )


if __name__ == "__main__":
    main()
