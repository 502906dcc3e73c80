"""Speak HTTP byte by byte, to see what a client library hides."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

from aiohttp.test_utils import TestClient

TIMEOUT_S = 60.0


async def all_answered(port: int | None, request: bytes) -> bytes:
    """Send bytes, and return all until the connection ends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    try:
        async with asyncio.timeout(TIMEOUT_S):
            return await reader.read()
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def answer_to_head(
    client: TestClient, request_line: str, headers: Mapping[str, str]
) -> bytes:
    """Send a request's head but no body, and return the first bytes that come back."""
    async with _after_head(client, request_line, headers) as (reader, _):
        async with asyncio.timeout(TIMEOUT_S):
            return await reader.readuntil(b"\r\n\r\n")


async def answer_to_body(
    client: TestClient, request_line: str, headers: Mapping[str, str], body: bytes
) -> bytes:
    """Send a body once it is asked for, and return all until the connection ends."""
    expecting = {**headers, "Expect": "100-continue"}
    async with _after_head(client, request_line, expecting) as (reader, writer):
        async with asyncio.timeout(TIMEOUT_S):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(body)
            return await reader.read()


async def head_and_no_more(
    client: TestClient, request_line: str, headers: Mapping[str, str]
) -> None:
    """Send a request's head, await that its body is asked for, and hang up."""
    expecting = {**headers, "Expect": "100-continue"}
    async with _after_head(client, request_line, expecting) as (reader, _):
        async with asyncio.timeout(TIMEOUT_S):
            await reader.readuntil(b"\r\n\r\n")


@asynccontextmanager
async def _after_head(
    client: TestClient, request_line: str, headers: Mapping[str, str]
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    port = client.server.port
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    lines = [f"{request_line} HTTP/1.1", f"Host: 127.0.0.1:{port}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    try:
        yield reader, writer
    finally:
        writer.close()
        await writer.wait_closed()
