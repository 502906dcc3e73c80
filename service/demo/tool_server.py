"""A small MCP server for the demo: issues, in memory.

Run as a program: ``python -m service.demo.tool_server PORT``. It speaks the stateless
revision alone, on the loopback address; the gateway translates for older clients.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson
import uvloop
from aiohttp import web

REVISION: Final = "2026-07-28"
TITLE: Final = {"title": {"type": "string", "minLength": 1}}
NUMBER: Final = {"number": {"type": "integer"}}
ISSUES: Final = {1: "The printer is out of paper", 2: "The coffee machine is loud"}


def list_issues() -> str:
    return "\n".join(f"#{number} {title}" for number, title in ISSUES.items())


def create_issue(title: str) -> str:
    number = max(ISSUES, default=0) + 1
    ISSUES[number] = title
    return f"created #{number}"


def delete_issue(number: int) -> str:
    return f"deleted #{number} {ISSUES.pop(number)}"


def _tool(
    function: Callable[..., str], description: str, arguments: Mapping[str, Any]
) -> tuple[Callable[..., str], dict[str, Any]]:
    schema = {
        "type": "object",
        "properties": arguments,
        "required": [*arguments],
        "additionalProperties": False,
    }
    name = function.__name__
    return function, {
        "name": name,
        "description": description,
        "inputSchema": schema,
    }


TOOLS: Final = {
    function.__name__: (function, document)
    for function, document in (
        _tool(list_issues, "List the open issues.", {}),
        _tool(create_issue, "File an issue.", TITLE),
        _tool(delete_issue, "Delete an issue.", NUMBER),
    )
}


def _answer(method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
    cached = {"ttlMs": 60_000, "cacheScope": "public"}
    if method == "server/discover":
        return {
            "supportedVersions": [REVISION],
            "capabilities": {"tools": {}},
            **cached,
        }
    if method == "tools/list":
        return {"tools": [document for _, document in TOOLS.values()], **cached}
    if method == "tools/call" and params.get("name") in TOOLS:
        function, _ = TOOLS[params["name"]]
        try:
            text, is_error = function(**params.get("arguments", {})), False
        except (TypeError, KeyError):
            text, is_error = "these are not the tool's arguments", True
        return {"content": [{"type": "text", "text": text}], "isError": is_error}
    return None


async def post(request: web.Request) -> web.Response:
    message = orjson.loads(await request.read())
    if "id" not in message:
        return web.Response(status=202)
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
    result = _answer(message["method"], message.get("params", {}))
    status = 200
    if result is not None:
        body["result"] = {"resultType": "complete", **result}
    else:
        status, body["error"] = 404, {"code": -32601, "message": "method not found"}
    return web.Response(
        body=orjson.dumps(body), status=status, content_type="application/json"
    )


def main() -> None:
    app = web.Application()
    app.router.add_post("/mcp", post)
    uvloop.install()
    web.run_app(
        app, host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None
    )


if __name__ == "__main__":
    main()
