"""The smallest HTTP client: one request at a time, on a connection of its own."""

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass

HOST = "127.0.0.1"


class NotSentError(Exception):
    """There was no connection, so the request can't have had an effect."""


class LostError(Exception):
    """The connection ended, or time was up, before the answer was complete."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer; the names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class HttpConnection:
    """A connection to one port, made anew where needed."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def request(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes = b"",
        *,
        timeout_s: float,
    ) -> Reply:
        """Send a request and wait for its answer.

        :raises NotSentError: nothing was sent
        :raises LostError: it was sent, and perhaps carried out
        """
        reader, writer = await self._connected()
        lines = [f"{method} {path} HTTP/1.1", f"Host: {HOST}:{self._port}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        lines += [f"Content-Length: {len(body)}", "", ""]
        try:
            async with asyncio.timeout(timeout_s):
                writer.write("\r\n".join(lines).encode() + body)
                reply = await _reply(reader)
        except (OSError, EOFError, ValueError, TimeoutError) as error:
            self.close()
            raise LostError(type(error).__name__) from error
        if reply.headers.get("connection") == "close":
            self.close()
        return reply

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._reader is not None and self._reader.at_eof():
            self.close()
        if self._reader is None or self._writer is None:
            try:
                async with asyncio.timeout(2):
                    self._reader, self._writer = await asyncio.open_connection(
                        HOST, self._port
                    )
            except (OSError, TimeoutError) as error:
                raise NotSentError(type(error).__name__) from error
        return self._reader, self._writer

    def close(self) -> None:
        if self._writer is not None:
            with contextlib.suppress(OSError):
                self._writer.transport.abort()
        self._reader = self._writer = None


async def _reply(reader: asyncio.StreamReader) -> Reply:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {}
    for line in head[1:-2]:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Reply(int(head[0].split(" ", 2)[1]), headers, body)
