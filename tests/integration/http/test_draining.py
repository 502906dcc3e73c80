"""Stopping takes as long as it is given, also for a client that reads slowly."""

import asyncio

import pytest
from aiohttp import web

from service.http.overload import ConnectionLimit
from service.http.server import ClientConnection, Runner
from tests.support.waiting import until

# Longer than the test waits for the end.
DRAIN_S = 600.0
# aiohttp rounds it up to the next second of the loop's clock.
BEYOND_S = DRAIN_S + 1.5


class SteppedLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock can be put forward."""

    ahead_s = 0.0

    def time(self) -> float:
        return super().time() + self.ahead_s


def test_who_does_not_read_is_cut_off_when_the_time_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draining = asyncio.Event()
    drain = ClientConnection.shutdown

    async def noted(connection: ClientConnection, timeout: float | None = None) -> None:  # noqa: ASYNC109
        draining.set()
        await drain(connection, timeout)

    async def for_ever(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x" * 65536)

    async def stop() -> None:
        app = web.Application()
        app.router.add_get("/", for_ever)
        runner = Runner(app, limit=ConnectionLimit(), shutdown_timeout=DRAIN_S)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        reader, writer = await asyncio.open_connection(*runner.addresses[0], limit=1000)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")

        stopping = asyncio.create_task(runner.cleanup())
        await draining.wait()
        assert not stopping.done()
        loop.ahead_s += BEYOND_S
        await until(stopping.done)
        # What the system still held for it is discarded.
        with pytest.raises(ConnectionResetError):
            await reader.read()
        writer.close()

    monkeypatch.setattr(ClientConnection, "shutdown", noted)
    loop = SteppedLoop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(stop())
