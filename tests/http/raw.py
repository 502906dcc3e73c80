"""Speak HTTP byte by byte, to see what a client library hides."""

import asyncio
from collections.abc import Mapping

from aiohttp.test_utils import TestClient

TIMEOUT_S = 5.0


async def answer_to_head(
    client: TestClient, request_line: str, headers: Mapping[str, str]
) -> bytes:
    """Send a request's head but no body, and return the first bytes that come back."""
    port = client.server.port
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    lines = [f"{request_line} HTTP/1.1", f"Host: 127.0.0.1:{port}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    try:
        async with asyncio.timeout(TIMEOUT_S):
            return await reader.readuntil(b"\r\n\r\n")
    finally:
        writer.close()
        await writer.wait_closed()
