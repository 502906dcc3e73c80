"""A provider of models that answers with the bytes that a test writes itself."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import orjson

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
CHUNKED = STREAM + b"Transfer-Encoding: chunked\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"

Answering = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Received:
    """A request, as it came."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def names(self) -> set[str]:
        return {name.lower() for name, _ in self.headers}

    def header(self, name: str) -> str | None:
        found = [value for each, value in self.headers if each.lower() == name.lower()]
        assert len(found) < 2, found
        return found[0] if found else None

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


@dataclass
class Provider:
    """Answers each request with the next of ``answers``, and again with the last one.

    Bytes are sent as they are; a function writes itself. The connection ends after an
    answer that ``closes``.
    """

    url: str = ""
    answers: list[bytes | Answering] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    closes: bool = False
    opened: int = 0
    # Connections that are open.
    open: int = 0

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.opened += 1
        self.open += 1
        try:
            while True:
                self.received.append(await _received(reader))
                answer = self.answers[0]
                if len(self.answers) > 1:
                    self.answers.pop(0)
                if isinstance(answer, bytes):
                    writer.write(answer)
                else:
                    await answer(writer)
                await writer.drain()
                if self.closes:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            self.open -= 1
            writer.close()


async def _received(reader: asyncio.StreamReader) -> Received:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, target, _ = first.split(" ")
    headers = [(name, value) for name, _, value in (x.partition(": ") for x in lines)]
    sizes = [int(value) for name, value in headers if name.lower() == "content-length"]
    body = await reader.readexactly(sizes[0] if sizes else 0)
    return Received(method, target, headers, body)


@asynccontextmanager
async def provider(*answers: bytes | Answering) -> AsyncIterator[Provider]:
    made = Provider(answers=[*answers])
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0, limit=2**26)
    port = server.sockets[0].getsockname()[1]
    made.url = f"http://127.0.0.1:{port}/v1"
    try:
        yield made
    finally:
        server.close()


def answer(body: bytes | Any, status: str = "200 OK", headers: bytes = b"") -> bytes:
    """Return an answer of JSON; ``headers`` are whole lines."""
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    return (
        b"HTTP/1.1 %b\r\nContent-Type: application/json\r\n%bContent-Length: %d\r\n\r\n"
        % (status.encode(), headers, len(content))
        + content
    )


def chunk(piece: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece)


def stream(pieces: Iterable[bytes], end: bytes = LAST_CHUNK) -> bytes:
    """Return an answer that is a stream; another end than the last chunk cuts it."""
    return CHUNKED + b"".join(map(chunk, pieces)) + end


def in_pieces(sent: bytes, seed: int) -> list[bytes]:
    """Cut bytes at random places, some of them next to each other."""
    random = Random(seed)  # noqa: S311 # drawn again from it
    cuts = random.choice([1, 5, 20, 200])
    places = sorted(random.randrange(len(sent) + 1) for _ in range(cuts))
    places += [at + 1 for at in places if random.random() < 0.2]
    ends = sorted({each for each in places if 0 < each < len(sent)} | {len(sent)})
    return [sent[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def sending(head: bytes, *pieces: bytes) -> Answering:
    """Send pieces one by one, each when the one before has left."""

    async def send(writer: asyncio.StreamWriter) -> None:
        for piece in (head, *pieces):
            writer.write(piece)
            await writer.drain()
            # The gateway, in this process, gets it apart from the next one.
            await asyncio.sleep(0)

    return send
