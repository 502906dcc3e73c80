"""A proxy that cuts connections after some bytes of answers."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlsplit


@asynccontextmanager
async def cutting_proxy(
    target: str, cuts: Sequence[int], *, asked: bytes = b""
) -> AsyncIterator[str]:
    """Run a proxy to a URL; yield its URL.

    The first connections are cut after so many bytes of answers, later ones never.
    Those count that ask for something, from then on.
    """
    left = list(cuts)
    address = urlsplit(target)

    async def connected(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        allowed: int | None = None
        sent = 0
        upstream, to_upstream = await asyncio.open_connection(
            address.hostname, address.port
        )

        async def requests() -> None:
            nonlocal allowed, sent
            while data := await reader.read(65536):
                if allowed is None and left and asked in data:
                    allowed, sent = left.pop(0), 0
                to_upstream.write(data)
            to_upstream.close()

        sending = asyncio.create_task(requests())
        try:
            while data := await upstream.read(1024):
                if allowed is not None and sent + len(data) > allowed:
                    writer.write(data[: allowed - sent])
                    break
                writer.write(data)
                sent += len(data)
            await writer.drain()
        except ConnectionError:
            pass
        finally:
            sending.cancel()
            writer.close()
            to_upstream.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
