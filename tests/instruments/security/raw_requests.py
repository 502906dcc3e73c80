"""Requests as no client library sends them: in tiny chunks, many at once, pipelined."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from tests.support.operations.asks import Wire

TIMEOUT_S: Final = 300.0
READ_BYTES: Final = 256 * 1024


async def send_raw(
    port: int, line: str, headers: Mapping[str, str], body: bytes | None, wire: Wire
) -> int:
    """Send a request and return the status of the last answer of a connection."""
    everything = raw(line, headers, body, wire)
    async with asyncio.timeout(TIMEOUT_S):
        statuses = await asyncio.gather(
            *(exchange(port, everything) for _ in range(wire.connections))
        )
    return max(statuses)


def raw(line: str, headers: Mapping[str, str], body: bytes | None, wire: Wire) -> bytes:
    """Return the bytes that one connection sends; the last request closes it."""
    sent = _request(line, headers, body, is_chunked=wire.chunked)
    last = _request(
        line, {**headers, "Connection": "close"}, body, is_chunked=wire.chunked
    )
    return sent * (wire.times - 1) + last


def _request(
    line: str, headers: Mapping[str, str], body: bytes | None, *, is_chunked: bool
) -> bytes:
    lines = [f"{line} HTTP/1.1", "Host: a"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if is_chunked:
        lines.append("Transfer-Encoding: chunked")
    elif body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


async def exchange(port: int, sent: bytes, bytes_max: int | None = None) -> int:
    """Send bytes, and return the last status.

    Reads until the connection ends, or more than ``bytes_max``.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=READ_BYTES)
    writer.write(sent)
    status = received = 0
    with suppress(ConnectionError):
        while answered := await reader.read(READ_BYTES):
            if answered.startswith(b"HTTP/1.1 "):
                status = int(answered.split(b" ", 2)[1])
            received += len(answered)
            if bytes_max is not None and received > bytes_max:
                break
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()
    return status
