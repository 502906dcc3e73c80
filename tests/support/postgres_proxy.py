"""A PostgreSQL proxy that loses what it is told to lose: a commit, or everything."""

import asyncio
import contextlib
import struct
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from enum import Enum, auto
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

APPEND = b"events.append("
PORT = "5432"


class Fault(Enum):
    """What happens to the next append, and to its connection."""

    CUT_BEFORE_REQUEST = auto()
    CUT_BEHIND_REQUEST = auto()
    DROP_REPLY = auto()
    CUT_INSIDE_REPLY = auto()
    STALL_REQUEST = auto()
    STALL_REPLY = auto()


class Proxy:
    """Listens on a Unix socket and forwards to a server's.

    ``fault`` strikes the next append once and is None again. ``late`` are the
    requests that were stalled: they reach the server when they are let go. While
    ``forwards`` is clear, connections are half open: nothing comes through, and
    nobody is told. With ``drops_options``, new sessions don't get their options, as
    with a connection pooler.
    """

    def __init__(self, folder: Path) -> None:
        self.fault: Fault | None = None
        self.late = asyncio.Event()
        self.struck = asyncio.Event()
        self.forwards = asyncio.Event()
        self.forwards.set()
        self.is_away = False
        self.drops_options = False
        self._folder = folder
        self._upstream = ""
        self._writers: set[asyncio.StreamWriter] = set()

    def url(self, database_url: str) -> str:
        """Return the URL of a database by way of this proxy."""
        self.redirect(database_url)
        return make_conninfo(database_url, host=str(self._folder), port=PORT)

    def redirect(self, database_url: str) -> None:
        words = conninfo_to_dict(database_url)
        self._upstream = f"{words['host']}/.s.PGSQL.{words.get('port') or PORT}"

    def go_away(self) -> None:
        """Cut everyone off and take nobody in."""
        self.is_away = True
        for writer in list(self._writers):
            writer.transport.abort()

    def come_back(self) -> None:
        self.is_away = False

    @contextmanager
    def frozen_sessions(self) -> Iterator[None]:
        """Keep the sessions of now half open until the block ends; later ones work.

        As after a fail-over from a server that hangs.
        """
        frozen, self.forwards = self.forwards, asyncio.Event()
        self.forwards.set()
        frozen.clear()
        try:
            yield
        finally:
            frozen.set()

    def _is_away_by_now(self) -> bool:
        return self.is_away

    def strike(self) -> Fault | None:
        fault, self.fault = self.fault, None
        if fault is not None:
            self.struck.set()
        return fault

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if self.is_away:
            await _abort(writer)
            return
        try:
            upstream = await asyncio.open_unix_connection(self._upstream)
        except OSError:
            await _abort(writer)
            return
        if self._is_away_by_now():
            await _abort(writer)
            await _abort(upstream[1])
            return
        self._writers |= {writer, upstream[1]}
        session = Session(self, writer, upstream[1])
        pumps = [
            asyncio.create_task(session.requests(reader)),
            asyncio.create_task(session.replies(upstream[0])),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            self._writers -= {writer, upstream[1]}
            await _abort(writer)
            await _abort(upstream[1])


async def _abort(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


class Session:
    """One client's connection."""

    def __init__(
        self, proxy: Proxy, client: asyncio.StreamWriter, server: asyncio.StreamWriter
    ) -> None:
        self._proxy = proxy
        self._forwards = proxy.forwards
        self._client = client
        self._server = server
        self._statements: set[bytes] = set()
        self._fault: Fault | None = None

    async def requests(self, reader: asyncio.StreamReader) -> None:
        """Forward messages; returns, and so ends the session, where it is cut."""
        length = struct.unpack("!i", await reader.readexactly(4))[0]
        startup = await reader.readexactly(length - 4)
        if self._proxy.drops_options:
            startup = _without_options(startup)
        self._server.write(struct.pack("!i", len(startup) + 4) + startup)
        while True:
            head = await reader.readexactly(5)
            body = await reader.readexactly(struct.unpack("!i", head[1:])[0] - 4)
            await self._forwards.wait()
            if self._is_append(head[:1], body):
                self._fault = self._proxy.strike()
                if self._fault is Fault.CUT_BEFORE_REQUEST:
                    return
                if self._fault is Fault.STALL_REQUEST:
                    await self._proxy.late.wait()
            self._server.write(head + body)
            await self._server.drain()
            if self._fault is Fault.CUT_BEHIND_REQUEST and head[:1] == b"S":
                return

    def _is_append(self, kind: bytes, body: bytes) -> bool:
        if kind == b"P" and APPEND in body:
            self._statements.add(body.partition(b"\0")[0])
        # Bind: the portal's name, then the statement's.
        return kind == b"B" and body.split(b"\0", 2)[1] in self._statements

    async def replies(self, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(65536):
            await self._forwards.wait()
            if self._fault is Fault.DROP_REPLY:
                await self._wait_for_commit(reader, data)
                return
            if self._fault is Fault.CUT_INSIDE_REPLY:
                await self._wait_for_commit(reader, data)
                self._client.write(data[: len(data) // 2])
                await self._client.drain()
                return
            if self._fault in (Fault.STALL_REPLY, Fault.STALL_REQUEST):
                await asyncio.Event().wait()
            self._client.write(data)
            await self._client.drain()

    async def _wait_for_commit(self, reader: asyncio.StreamReader, data: bytes) -> None:
        """Read up to ReadyForQuery: only then is it committed."""
        while not data.endswith(b"Z\0\0\0\5I"):
            data += await reader.read(65536)


def _without_options(startup: bytes) -> bytes:
    """Remove the options from a startup message: a version, then names and values."""
    version, words = startup[:4], startup[4:].split(b"\0")
    if b"options" in words:
        at = words.index(b"options")
        del words[at : at + 2]
    return version + b"\0".join(words)


@asynccontextmanager
async def running_proxy(folder: Path) -> AsyncIterator[Proxy]:
    proxy = Proxy(folder)
    handlers: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handler = asyncio.create_task(proxy.serve(reader, writer))
        handlers.add(handler)
        handler.add_done_callback(handlers.discard)
        # Also one that is cancelled before it has begun, as the loop ends.
        handler.add_done_callback(lambda _: writer.transport.abort())

    server = await asyncio.start_unix_server(accept, folder / f".s.PGSQL.{PORT}")
    try:
        yield proxy
    finally:
        server.close()
        proxy.go_away()
        proxy.late.set()
        proxy.forwards.set()
        while handlers:
            await asyncio.wait(handlers)


@pytest.fixture
async def proxy() -> AsyncIterator[Proxy]:
    """A proxy of the test's own: conftest.py imports it."""
    # A socket's path is short; on macOS, pytest's own folder is too long for one.
    with tempfile.TemporaryDirectory(prefix="proxy-") as folder:
        async with running_proxy(Path(folder)) as proxy:
            yield proxy
