"""Network links that can be cut: TCP proxies on loopback."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator

HOST = "127.0.0.1"
CHUNK = 1 << 16


class Link:
    """Forwards one port to another one.

    While it is cut, nothing comes through and nobody is told, as when packets are
    dropped; what was sent meanwhile arrives when it is mended.
    """

    def __init__(self, port: int, target: int) -> None:
        self.port = port
        self._target = target
        self._is_up = asyncio.Event()
        self._is_up.set()
        self._pumps: set[asyncio.Task[None]] = set()

    async def listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._accept, HOST, self.port)

    def cut(self) -> None:
        self._is_up.clear()

    def mend(self) -> None:
        self._is_up.set()

    async def _accept(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await self._is_up.wait()
        try:
            upstream = await asyncio.open_connection(HOST, self._target)
        except OSError:
            writer.transport.abort()
            return
        pumps = [
            asyncio.create_task(self._pump(reader, upstream[1])),
            asyncio.create_task(self._pump(upstream[0], writer)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            writer.transport.abort()
            upstream[1].transport.abort()

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(CHUNK):
                await self._is_up.wait()
                writer.write(data)
                await writer.drain()


class Network:
    """Runs links on an event loop of its own, which no test holds up."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._servers: list[asyncio.Server] = []

    def link(self, port: int, target: int) -> Link:
        link = Link(port, target)
        self._servers.append(
            asyncio.run_coroutine_threadsafe(link.listen(), self._loop).result()
        )
        return link

    def cut(self, *links: Link) -> None:
        for link in links:
            self._loop.call_soon_threadsafe(link.cut)

    def mend(self, *links: Link) -> None:
        for link in links:
            self._loop.call_soon_threadsafe(link.mend)

    @contextlib.contextmanager
    def running(self) -> Iterator["Network"]:
        self._thread.start()
        try:
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _close(self) -> None:
        for server in self._servers:
            server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
