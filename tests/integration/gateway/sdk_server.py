"""Servers of the official SDK, on a port of this machine, in this event loop."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, MCPServer
from starlette.responses import PlainTextResponse

from service.gateway.protocol.revisions import STATELESS
from tests.support.waiting import until


def tools() -> MCPServer:
    """A server with a few tools."""
    server = MCPServer("tools", version="1")

    @server.tool()
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @server.tool()
    def fail() -> str:
        """Fail."""
        raise ValueError("a text of the server")

    @server.tool()
    async def count(to: int, ctx: Context) -> str:
        """Count with progress."""
        for number in range(1, to + 1):
            await ctx.report_progress(number, to, f"{number}")
        return f"counted to {to}"

    return server


def _handshake_only(app: Any) -> Any:
    async def answer(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        if headers.get(b"mcp-protocol-version") == STATELESS.encode():
            await PlainTextResponse("Bad Request", status_code=400)(
                scope, receive, send
            )
        else:
            await app(scope, receive, send)

    return answer


@asynccontextmanager
async def serving(
    server: MCPServer | Server[Any], **settings: bool
) -> AsyncIterator[str]:
    """Yield the URL; ``settings`` are those of the SDK's ``streamable_http_app``.

    ``handshake_only``: it doesn't know the stateless revision, like servers of before.
    """
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        app = server.streamable_http_app(
            json_response=settings.get("json_response", False),
            stateless_http=settings.get("stateless_http", False),
        )
        served = _handshake_only(app) if settings.get("handshake_only") else app
        # Not httptools: it leaves spaces after a header's value, which RFC 9110 (5.5)
        # and the conformance suite want excluded.
        running = uvicorn.Server(
            uvicorn.Config(
                served, http="h11", log_config=None, lifespan="on", ws="none"
            )
        )
        task = asyncio.create_task(running.serve([listener]))
        try:
            await until(lambda: running.started)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            running.should_exit = True
            running.force_exit = True
            await task
