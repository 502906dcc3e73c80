"""Bodies in the smallest chunks cost little, and nothing once they are refused."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from aiohttp.streams import StreamReader

from service.http.server import CHUNKING_BYTES_MAX, READ_BYTES
from service.tasks import end_tasks
from tests.integration.http.raw import all_answered
from tests.support.callers import Caller, Callers

CONNECTORS = "/api/mcp/connectors"
TINY = b"1\r\n \r\n"
CHUNKS = 400_000
END = b"0\r\n\r\n"
# A connection stops reading at so many; the rest of what was read may be parsed once
# more when they have been taken over.
CHUNKS_AT_ONCE = 4 * READ_BYTES // 16


@dataclass
class Parsed:
    """How many chunks were parsed in each turn of the event loop."""

    turn: int = 0
    chunks: Counter[int] = field(default_factory=Counter)


@pytest.fixture
async def parsed(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Parsed]:
    counts = Parsed()
    end_chunk = StreamReader.end_http_chunk_receiving

    def counted(reader: StreamReader) -> None:
        counts.chunks[counts.turn] += 1
        end_chunk(reader)

    async def take_turns() -> None:
        while True:
            counts.turn += 1
            await asyncio.sleep(0)

    monkeypatch.setattr(StreamReader, "end_http_chunk_receiving", counted)
    turns = asyncio.create_task(take_turns())
    yield counts
    await end_tasks(turns)


async def sent(caller: Caller, line: str, *headers: str, body: bytes) -> bytes:
    head = [f"{line} HTTP/1.1", "Host: a", "Transfer-Encoding: chunked", *headers]
    request = "\r\n".join([*head, "", ""]).encode() + body
    return await all_answered(caller.client.server.port, request)


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (f"POST {CONNECTORS}", b"401"),
        ("GET /api/users/me", b"401"),
        ("POST /absent", b"404"),
    ],
)
async def test_an_unwanted_body_is_left_unparsed(
    edge: Callers, parsed: Parsed, line: str, status: bytes
) -> None:
    answer = await sent(await edge.user("ada"), line, body=TINY * CHUNKS + END)

    assert answer.split(b" ", 2)[1] == status
    assert b"\r\nConnection: close\r\n" in answer
    assert sum(parsed.chunks.values()) <= CHUNKS_AT_ONCE


async def test_a_body_of_too_many_chunks_is_refused(
    ada: Caller, parsed: Parsed
) -> None:
    answer = await sent(
        ada,
        f"POST {CONNECTORS}",
        f"Authorization: Bearer {ada.token}",
        "Content-Type: application/json",
        body=TINY * CHUNKS + END,
    )

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"too many small chunks" in answer
    assert sum(parsed.chunks.values()) <= CHUNKING_BYTES_MAX / 5
    assert max(parsed.chunks.values()) <= CHUNKS_AT_ONCE


async def test_one_connection_at_a_time_goes_on_reading(
    ada: Caller, parsed: Parsed
) -> None:
    """The bodies of many connections together hold up others for no longer."""
    connections = 10
    chunks = READ_BYTES

    answers = await asyncio.gather(
        *(
            sent(
                ada,
                f"POST {CONNECTORS}",
                f"Authorization: Bearer {ada.token}",
                "Content-Type: application/json",
                "Connection: close",
                body=TINY * chunks + END,
            )
            for _ in range(connections)
        )
    )

    assert {answer.split(b" ", 2)[1] for answer in answers} == {b"400"}
    assert sum(parsed.chunks.values()) == connections * (chunks + 1)
    # Each goes on in a turn of its own, in which another one may have been read; only
    # the first parts may all be parsed in the same turn.
    at_once = READ_BYTES // 16 + 1
    together = sum(max(0, each - 2 * at_once) for each in parsed.chunks.values())
    assert together <= connections * at_once
