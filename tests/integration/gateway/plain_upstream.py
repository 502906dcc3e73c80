"""A stateless MCP server whose answers to tools/call a test writes itself."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from service.gateway.protocol.revisions import STATELESS

Answer = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]


@dataclass
class PlainUpstream:
    """``requests`` are the tools/call that it got; ``left`` is set when one left.

    It lists ``tools``; without them, ``answer`` answers that, too. While it isn't
    ``discoverable``, it doesn't say which revisions it speaks.
    """

    answer: Answer
    tools: Sequence[str] = ()
    url: str = ""
    requests: list[tuple[dict[str, str], dict[str, Any]]] = field(default_factory=list)
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    was_asked: asyncio.Event = field(default_factory=asyncio.Event)
    discoverable: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.discoverable.set()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if body["method"] == "server/discover":
            self.was_asked.set()
            await self.discoverable.wait()
            result = {"resultType": "complete", "supportedVersions": [STATELESS]}
            return answered(body, result)
        if body["method"] == "tools/list" and self.tools:
            schema = {"type": "object"}
            listed = [{"name": name, "inputSchema": schema} for name in self.tools]
            return answered(
                body,
                {
                    "resultType": "complete",
                    "tools": listed,
                    "ttlMs": 60_000,
                    "cacheScope": "private",
                },
            )
        self.requests.append((dict(request.headers), body))
        self.entered.set()
        try:
            return await self.answer(request, body)
        except asyncio.CancelledError:
            self.left.set()
            raise


async def hello(_request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    return answered(body, {"content": [{"type": "text", "text": "hello"}]})


def answered(body: dict[str, Any], result: Any) -> web.Response:
    return web.json_response({"jsonrpc": "2.0", "id": body["id"], "result": result})


async def streamed(request: web.Request, *messages: bytes) -> web.StreamResponse:
    """Send messages in a stream of events, which stays open."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for each in messages:
        await response.write(b"data: " + each + b"\n\n")
    return response


@asynccontextmanager
async def plain_upstream(
    answer: Answer = hello, *, tools: Sequence[str] = ()
) -> AsyncIterator[PlainUpstream]:
    upstream = PlainUpstream(answer, tools)
    app = web.Application()
    app.router.add_post("/mcp", upstream.handle)
    async with TestServer(app) as server:
        upstream.url = str(server.make_url("/mcp"))
        yield upstream


async def drop(request: web.Request, _body: Any) -> web.StreamResponse:
    """Close the connection instead of answering."""
    assert request.transport is not None
    request.transport.close()
    return web.Response()
