"""Twenty callers at once, and a prober beside them, each in a process of its own.

In the service's process they would take the time that is measured. Run as a program,
it is one of the two, and does what lines of JSON on standard input say.
"""

import asyncio
import base64
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from tests.instruments.security.raw_requests import exchange
from tests.support.project import ROOT

CALLERS: Final = 20
LINE_BYTES_MAX: Final = 64 * 1024 * 1024
PROBE_S: Final = 0.005
PROBE: Final = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"


class Crowd:
    """Sends a request from twenty connections at once, and probes meanwhile."""

    def __init__(
        self,
        port: int,
        callers: asyncio.subprocess.Process,
        prober: asyncio.subprocess.Process,
    ) -> None:
        self._port = port
        self._callers = callers
        self._prober = prober

    async def prepare(self, request: bytes, bytes_max: int | None = None) -> None:
        """Hand over what is sent next: encoding it takes time in this process.

        Each caller leaves after more than ``bytes_max``.
        """
        encoded = base64.b64encode(request).decode()
        task = {"port": self._port, "request": encoded, "bytes_max": bytes_max}
        await _ask(self._callers, task)

    async def send(self) -> tuple[int, float]:
        """Send what is prepared on each of twenty connections, all at once.

        Returns the highest status, and the prober's longest wait in seconds.
        """
        await _ask(self._prober, {"port": self._port})
        status = await _ask(self._callers, {})
        return status, await _ask(self._prober, {})


@asynccontextmanager
async def crowd(port: int) -> AsyncIterator[Crowd]:
    """Run the two processes until the block ends."""
    started = [await _started(role) for role in ("callers", "prober")]
    try:
        yield Crowd(port, *started)
    finally:
        for process in started:
            assert process.stdin is not None
            process.stdin.close()
            await process.wait()


async def _started(role: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", __name__, role),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
        limit=LINE_BYTES_MAX,
    )


async def _ask(process: asyncio.subprocess.Process, task: dict[str, Any]) -> Any:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(task).encode() + b"\n")
    await process.stdin.drain()
    return json.loads(await process.stdout.readline())


async def _callers() -> None:
    asked: tuple[int, bytes, int | None] = (0, b"", None)
    async for task in _tasks():
        if task:
            request = base64.b64decode(task["request"])
            asked = (task["port"], request, task["bytes_max"])
            _say(None)
            continue
        calls = (exchange(*asked) for _ in range(CALLERS))
        _say(max(await asyncio.gather(*calls)))


async def _prober() -> None:
    probing: asyncio.Task[None] | None = None
    longest = [0.0]
    async for task in _tasks():
        if probing is not None:
            probing.cancel()
        if not task:
            _say(longest[0])
            continue
        longest[0] = 0.0
        connection = await asyncio.open_connection("127.0.0.1", task["port"])
        probing = asyncio.create_task(_probe(*connection, longest))
        _say(None)


async def _probe(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, longest: list[float]
) -> None:
    try:
        while True:
            asked_at = time.perf_counter()
            writer.write(PROBE)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
            longest[0] = max(longest[0], time.perf_counter() - asked_at)
            await asyncio.sleep(PROBE_S)
    finally:
        writer.close()


async def _tasks() -> AsyncIterator[dict[str, Any]]:
    reader = asyncio.StreamReader(limit=LINE_BYTES_MAX)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    while line := await reader.readline():
        yield json.loads(line)


def _say(answer: float | None) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run({"callers": _callers, "prober": _prober}[sys.argv[1]]())
