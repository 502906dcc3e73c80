"""A server that answers with the bytes that a test writes itself."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any

from service.upstream_http.addresses import AddressPolicy
from service.upstream_http.connections import Connections, open_connections
from service.upstream_http.response import Response


@dataclass
class Raw:
    """A server that answers each request with the next of some bytes.

    It closes the connection after an answer before None.
    """

    connections: Connections
    answers: list[Any]
    url: str = ""
    requests: list[bytes] = field(default_factory=list)
    opened: int = 0

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.opened += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.partition(b"Content-Length: ")[2].split()[0])
                self.requests.append(head + await reader.readexactly(length))
                writer.write(self.answers.pop(0))
                await writer.drain()
                if self.answers[:1] == [None]:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()

    async def post(self, **headers: str) -> Response:
        return await self.connections.post(self.url, headers, b"{}")

    async def body(self) -> bytes:
        response = await self.post()
        pieces = []
        while piece := await response.read():
            pieces.append(piece)
        return b"".join(pieces)


@asynccontextmanager
async def answering(
    *answers: bytes | None, silence_s: float = 60.0
) -> AsyncIterator[Raw]:
    policy = AddressPolicy((ip_network("127.0.0.0/8"),))
    async with open_connections(policy, silence_s) as connections:
        raw = Raw(connections, [*answers])
        async with await asyncio.start_server(raw.serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            raw.url = f"http://127.0.0.1:{port}/mcp?a=b#c"
            yield raw
