"""A server that loses its sessions when it restarts, and says so in its own way."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web
from aiohttp.test_utils import TestServer

from service.gateway.protocol.revisions import STATELESS
from tests.integration.gateway.plain_upstream import answered, streamed
from tests.integration.gateway.stage import Stage, opened

Refusal = Callable[[web.Request, Any], Awaitable[web.StreamResponse]]


@dataclass
class RestartedServer:
    """A server that refuses, in its own way, what comes in a session it lost.

    ``got`` are methods and sessions of its requests, ``ran`` the sessions in which its
    tool did something, which ``tool`` answers, if given.
    """

    refuse: Refusal
    tool: Refusal | None = None
    has_sessions: bool = True
    is_stateless: bool = False
    answers_any_ping: bool = False
    answers_discover: bool = True
    begun: int = 0
    known: set[str] = field(default_factory=set)
    is_initialized: bool = False
    got: list[tuple[str, str | None]] = field(default_factory=list)
    ran: list[str | None] = field(default_factory=list)

    def restart(self, *, stateless: bool = False) -> None:
        self.known.clear()
        self.is_initialized, self.is_stateless = False, stateless

    def count(self, method: str) -> int:
        return [each for each, _ in self.got].count(method)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        session = request.headers.get("Mcp-Session-Id")
        method = body["method"]
        self.got.append((method, session))
        if method == "server/discover" and self.is_stateless:
            if not self.answers_discover:
                return web.Response(status=404)
            return answered(body, {"supportedVersions": [STATELESS]})
        if method == "initialize":
            return self._begin(body)
        if method == "ping" and self.answers_any_ping:
            return answered(body, {})
        if not self._knows(request):
            return await self.refuse(request, body)
        return await self._answer(request, body, session)

    async def _answer(
        self, request: web.Request, body: Any, session: str | None
    ) -> web.StreamResponse:
        match body["method"]:
            case "tools/list":
                tool = {"name": "add", "inputSchema": {"type": "object"}}
                return answered(body, {"tools": [tool]})
            case "tools/call":
                self.ran.append(session)
                if self.tool is not None:
                    return await self.tool(request, body)
                content = [{"type": "text", "text": str(session)}]
                return answered(body, {"content": content})
        return answered(body, {}) if "id" in body else web.Response(status=202)

    def _knows(self, request: web.Request) -> bool:
        if self.is_stateless:
            return request.headers.get("MCP-Protocol-Version") == STATELESS
        if not self.has_sessions:
            return self.is_initialized
        return request.headers.get("Mcp-Session-Id") in self.known

    def _begin(self, body: Any) -> web.Response:
        self.begun += 1
        self.is_initialized = True
        answer = answered(body, {"protocolVersion": "2025-11-25", "capabilities": {}})
        if self.has_sessions:
            session = f"session-{self.begun}"
            self.known.add(session)
            answer.headers["Mcp-Session-Id"] = session
        return answer


def error(
    code: Any,
    message: str,
    *,
    status: int = 200,
    sse: bool = False,
    of: Any = ...,
    before: bytes = b"",
) -> Refusal:
    """Answer an error; ``of`` is its id, ``before`` what precedes it in a stream."""

    async def answer(request: web.Request, body: Any) -> web.StreamResponse:
        told = {
            "jsonrpc": "2.0",
            "id": body.get("id") if of is ... else of,
            "error": {"code": code, "message": message},
        }
        if sse:
            return await streamed(
                request, *([before] if before else []), orjson.dumps(told)
            )
        return web.json_response(told, status=status)

    return answer


def plain(status: int, text: str = "") -> Refusal:
    async def answer(_request: web.Request, _body: Any) -> web.StreamResponse:
        return web.Response(status=status, text=text)

    return answer


@asynccontextmanager
async def restarted(
    refuse: Refusal, **settings: Any
) -> AsyncIterator[tuple[RestartedServer, Stage]]:
    served = RestartedServer(refuse, **settings)
    app = web.Application()
    app.router.add_post("/mcp", served.handle)
    async with TestServer(app) as server, opened() as stage:
        stage.gate.connect(str(server.make_url("/mcp")), "add")
        yield served, stage
