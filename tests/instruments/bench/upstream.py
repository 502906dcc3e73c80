"""MCP servers that do next to nothing; the yardstick of the gateway.

Run as a program: ``python -m tests.instruments.bench.upstream plain|sdk``. ``plain`` is
a handler of aiohttp on uvloop; ``sdk`` is built with the official SDK.
"""

import socket
import sys
from http import HTTPStatus
from typing import Any

import orjson
import uvicorn
import uvloop
from aiohttp import web
from mcp.server.mcpserver import MCPServer

from tests.instruments.bench.bare import serve

REVISION = "2026-07-28"
TOOL = "echo"
RESULTS: dict[str, dict[str, Any]] = {
    # For gateways that speak an older revision.
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "echo", "version": "1"},
    },
    "server/discover": {"supportedVersions": [REVISION]},
    "tools/list": {"tools": [{"name": TOOL, "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": [{"type": "text", "text": "hello"}], "isError": False},
}


async def answer(request: web.Request) -> web.Response:
    message = orjson.loads(await request.read())
    if "id" not in message:
        return web.Response(status=HTTPStatus.ACCEPTED)
    result = {"resultType": "complete", **RESULTS[message["method"]]}
    body = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    return web.Response(body=orjson.dumps(body), content_type="application/json")


def serve_plain() -> None:
    app = web.Application()
    app.router.add_post("/mcp", answer)
    uvloop.run(serve(app))


def serve_sdk() -> None:
    server = MCPServer("echo", version="1")

    @server.tool(structured_output=False)
    def echo(text: str, number: int) -> str:
        del text, number
        return "hello"

    app = server.streamable_http_app(json_response=True, stateless_http=True)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(f"ready at http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
        config = uvicorn.Config(app, log_config=None, ws="none", access_log=False)
        uvicorn.Server(config).run([listener])


if __name__ == "__main__":
    {"plain": serve_plain, "sdk": serve_sdk}[sys.argv[1]]()
