"""CPU time of an event of a stream, relayed, beside a bare relay of aiohttp.

Run as a program: ``python -m tests.instruments.bench.streams``. Provider, relay and
client are a process each; the rounds of both relays alternate, and the ratio is of CPU
time for each event, with all streams open. ``--delay`` measures how much later than the
provider sends it an event is received, with 500 streams.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from array import array
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast
from urllib.parse import urlsplit

import psutil
import uvloop

from tests.instruments.bench.streams.dialects import DIALECTS, STAMP
from tests.support.harness.service import Server, running
from tests.support.waiting import until

RATIO_MAX: Final = 1.0
DELAY_P99_MS_MAX: Final = 20.0
WARM_UP_S: Final = 1.0
PROGRAM: Final = "tests.instruments.bench.streams"


@dataclass
class Received:
    """What all clients have received since the last reset; delays in seconds."""

    events: int = 0
    ended: int = 0
    delays: "array[float]" = field(default_factory=lambda: array("d"))


class Client(asyncio.Protocol):
    """Receives one stream, and ends with its connection."""

    def __init__(self, request: bytes, mark: bytes, received: Received) -> None:
        self._request = request
        self._mark = mark
        self._received = received

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns()
        received = self._received
        received.events += data.count(b"\n\n")
        at = data.rfind(self._mark)
        stamp = data[at + len(self._mark) :][: len(STAMP)]
        if at >= 0 and stamp.isdigit() and stamp != STAMP:
            received.delays.append((now - int(stamp)) / 1e9)
        if data.endswith(b"0\r\n\r\n"):
            received.ended += 1
            self._transport.close()


@dataclass(frozen=True, slots=True)
class Round:
    """CPU time of the relay for each event, and delays of events."""

    cpu_us: float
    rate: float
    p50_ms: float
    p99_ms: float


@contextmanager
def program(folder: Path, module: str, *arguments: str) -> Iterator[Server]:
    command = [sys.executable, "-m", f"{PROGRAM}.{module}", *arguments]
    name = "-".join([module, *arguments[:1]])
    with running(Server(command, folder / f"{name}.log")) as server:
        yield server


async def measure(
    server: Server, dialect: str, *, streams: int, rate: float, seconds: float
) -> Round:
    """Open streams, let them run, and measure while all are open.

    :raises RuntimeError: not all of them came to their end
    """
    assert server.popen is not None
    process = psutil.Process(server.popen.pid)
    received = Received()
    # They open within a second, so that their events are spread over time.
    events = int(rate * (seconds + 3 * WARM_UP_S))
    host, _, port = urlsplit(server.url).netloc.partition(":")
    request = (
        f"POST /{dialect}/{events}/{rate} HTTP/1.1\r\nHost: {host}\r\n"
        "Content-Length: 2\r\n\r\n{}"
    ).encode()
    mark = DIALECTS[dialect].delta.split(STAMP)[0][-12:]
    loop = asyncio.get_running_loop()
    for _ in range(streams):
        await loop.create_connection(
            lambda: Client(request, mark, received), host, int(port)
        )
        await asyncio.sleep(WARM_UP_S / streams)
    await asyncio.sleep(WARM_UP_S)
    received.events, received.delays = 0, array("d")
    before, began = process.cpu_times(), time.perf_counter()
    await asyncio.sleep(seconds)
    after, took = process.cpu_times(), time.perf_counter() - began
    count, delays = received.events, sorted(received.delays)
    await until(lambda: received.ended == streams)
    cpu_s = after.user + after.system - before.user - before.system
    cuts = statistics.quantiles(delays, n=100)
    return Round(cpu_s / count * 1e6, count / took, cuts[49] * 1e3, cuts[98] * 1e3)


async def compare(relays: dict[str, Server], options: argparse.Namespace) -> bool:
    """Print the ratio of each dialect; return whether all are reached."""
    reached = True
    for dialect in options.dialects:
        rounds: dict[str, list[Round]] = {kind: [] for kind in relays}
        for _ in range(options.rounds):
            for kind, server in relays.items():
                measured = await measure(
                    server,
                    dialect,
                    streams=options.streams,
                    rate=options.rate,
                    seconds=options.seconds,
                )
                rounds[kind].append(measured)
        for kind, each in rounds.items():
            print(
                f"{dialect}, {kind}: {median(one.cpu_us for one in each):.1f} µs of CPU"
                f" an event, {median(one.rate for one in each):,.0f} events a second,"
                f" delay p50 {median(one.p50_ms for one in each):.2f} ms,"
                f" p99 {median(one.p99_ms for one in each):.2f} ms",
                flush=True,
            )
        if len(rounds) > 1:
            ratios = [
                one.cpu_us / other.cpu_us
                for one, other in zip(rounds["ours"], rounds["bare"], strict=True)
            ]
            ratio = statistics.median(ratios)
            reached &= ratio <= RATIO_MAX
            print(
                f"{dialect}: {ratio:.2f} ({min(ratios):.2f} to {max(ratios):.2f}) of a"
                f" bare relay, at most {RATIO_MAX}",
                flush=True,
            )
        elif median(one.p99_ms for one in rounds["ours"]) > DELAY_P99_MS_MAX:
            reached = False
    return reached


def median(values: Iterator[float]) -> float:
    return statistics.median(values)


def main() -> None:
    parser = argparse.ArgumentParser(prog=f"python -m {PROGRAM}")
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--rate", type=float, default=40.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--dialect", choices=DIALECTS)
    parser.add_argument("--delay", action="store_true")
    options = parser.parse_args()
    options.dialects = [options.dialect] if options.dialect else [*DIALECTS]
    kinds = ["bare", "ours"]
    if options.delay:
        options.streams, kinds = 500, ["ours"]
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
        provider = held.enter_context(program(folder, "provider"))
        relays = {
            kind: held.enter_context(program(folder, "relays", kind, provider.url))
            for kind in kinds
        }
        reached = uvloop.run(compare(relays, options))
    sys.exit(not reached)


if __name__ == "__main__":
    main()
