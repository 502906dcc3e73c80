"""Model calls over connections that are kept, and what they cost."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import quantiles
from typing import Final, cast
from urllib.parse import urlsplit

import psutil

HEAD_END: Final = b"\r\n\r\n"
LENGTH: Final = b"\r\ncontent-length:"
LAST_CHUNK: Final = b"0\r\n\r\n"
# What is recorded after the answer counts too.
SETTLING_STEP_S: Final = 0.25
SETTLING_S_MAX: Final = 20.0
IDLE_SHARE: Final = 0.08


@dataclass(frozen=True, slots=True)
class Target:
    """Whom to call, and the processes whose CPU time counts, with all below them."""

    url: str
    headers: Mapping[str, str]
    processes: Sequence[psutil.Process] = ()

    def request(self, body: bytes) -> bytes:
        _, netloc, path, _, _ = urlsplit(self.url)
        lines = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {netloc}\r\n{lines}"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    def cpu_s(self) -> float:
        return sum(map(_cpu_s, self.processes))


def _cpu_s(process: psutil.Process) -> float:
    total = 0.0
    for each in (process, *process.children(recursive=True)):
        try:
            times = each.cpu_times()
        except psutil.NoSuchProcess:
            # It is in its parent's times.
            continue
        total += times.user + times.system
        if each is process:
            total += times.children_user + times.children_system
    return total


class CallError(Exception):
    """A call had no complete and successful answer."""


class Connection(asyncio.Protocol):
    """Makes one call at a time; ``mark`` is in every whole answer."""

    def __init__(self, mark: bytes) -> None:
        self._mark = mark
        self._answer = bytearray()
        self._length: int | None = None
        self._body_at = 0
        self._first_byte_at = 0.0
        self._ended: asyncio.Future[float] | None = None
        self.is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are no subclasses of asyncio's.
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, error: Exception | None) -> None:
        self.is_lost = True
        if self._ended is not None and not self._ended.done():
            text = bytes(self._answer[:2000])
            self._ended.set_exception(CallError(f"cut: {text!r} {error}"))

    async def call(self, request: bytes) -> float:
        """Return when the first byte of the answer's body came.

        :raises CallError: it wasn't answered well
        """
        self._answer, self._body_at = bytearray(), 0
        self._ended = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._ended

    def close(self) -> None:
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        self._answer += data
        if not self._body_at:
            at = self._answer.find(HEAD_END)
            if at < 0:
                return
            self._body_at = at + len(HEAD_END)
            head = bytes(self._answer[:at]).lower()
            length = head.partition(LENGTH)[2].split(b"\r")[0]
            self._length = int(length) if length else None
            self._first_byte_at = 0.0
        if not self._first_byte_at and len(self._answer) > self._body_at:
            self._first_byte_at = now
        if self._is_whole() and self._ended is not None and not self._ended.done():
            is_good = b" 200 " in self._answer[:16] and self._mark in self._answer
            if is_good:
                self._ended.set_result(self._first_byte_at)
            else:
                text = bytes(self._answer[:2000])
                self._ended.set_exception(CallError(repr(text)))

    def _is_whole(self) -> bool:
        if self._length is not None:
            return len(self._answer) >= self._body_at + self._length
        return self._answer.endswith(LAST_CHUNK)


class Caller:
    """Calls a target, each time by a connection that is free."""

    def __init__(self, target: Target, body: bytes, mark: bytes) -> None:
        address = urlsplit(target.url)
        self._host, self._port = address.hostname or "", address.port or 0
        self._request = target.request(body)
        self._mark = mark
        self._free: list[Connection] = []

    async def call(self) -> float:
        """Return after how many seconds the first byte of the answer's body came."""
        began = time.perf_counter()
        while self._free:
            connection = self._free.pop()
            if not connection.is_lost:
                break
        else:
            connection = await self._opened()
        first_byte_at = await connection.call(self._request)
        self._free.append(connection)
        return first_byte_at - began

    async def open(self, count: int) -> None:
        self._free += [await self._opened() for _ in range(count)]

    def close(self) -> None:
        for each in self._free:
            each.close()

    async def _opened(self) -> Connection:
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(
            lambda: Connection(self._mark), self._host, self._port
        )
        return connection


async def warm_up(caller: Caller, calls: int) -> None:
    for _ in range(calls):
        await caller.call()


async def calls_per_cpu_s(
    target: Target, caller: Caller, *, callers: int, seconds: float
) -> tuple[float, float]:
    """Call in closed loops; return calls for a second of CPU, and for one of time."""
    done = 0

    async def calling(until: float) -> None:
        nonlocal done
        while time.perf_counter() < until:
            await caller.call()
            done += 1

    await asyncio.gather(*[caller.call() for _ in range(callers)])
    await _settled(target.cpu_s)
    before, began = target.cpu_s(), time.perf_counter()
    await asyncio.gather(*[calling(began + seconds) for _ in range(callers)])
    took = time.perf_counter() - began
    await _settled(target.cpu_s)
    cpu_s = target.cpu_s() - before
    return (done / cpu_s if cpu_s else 0.0), done / took


async def _settled(cpu_s: Callable[[], float]) -> None:
    """Wait until processes have done what they put off."""
    until = time.perf_counter() + SETTLING_S_MAX
    while time.perf_counter() < until:
        before = cpu_s()
        await asyncio.sleep(SETTLING_STEP_S)
        if cpu_s() - before < IDLE_SHARE * SETTLING_STEP_S:
            return


async def first_byte_ms(
    caller: Caller, *, rate: float, seconds: float
) -> tuple[float, float]:
    """Call at fixed times, however long answers take; return p50 and p99."""
    delays: list[float] = []

    async def call() -> None:
        delays.append(await caller.call())

    async with asyncio.TaskGroup() as calls:
        began = time.perf_counter()
        for number in range(int(rate * seconds)):
            wait_s = began + number / rate - time.perf_counter()
            await asyncio.sleep(max(0.0, wait_s))
            calls.create_task(call())
    cuts = quantiles(delays, n=100)
    return cuts[49] * 1e3, cuts[98] * 1e3
