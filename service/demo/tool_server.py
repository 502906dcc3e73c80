"""Small MCP servers for the demo, in memory: an issue tracker, a calendar, payments.

Run as a program: ``python -m service.demo.tool_server DESCRIPTOR``, with the descriptor
of a listening socket. They speak the stateless revision alone; the gateway translates
for older clients.
"""

import socket
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import orjson
import uvloop
from aiohttp import web

REVISION: Final = "2026-07-28"
TEXT: Final = {"type": "string", "minLength": 1}
NUMBER: Final = {"type": "integer"}
AMOUNT: Final = {"type": "string", "pattern": r"^[0-9]+\.[0-9]{2} [A-Z]{3}$"}
ISSUES: Final = {1: "The printer is out of paper", 2: "The coffee machine is loud"}
APPOINTMENTS: Final = ["Monday: stand-up", "Thursday: call with the customer"]
PAYMENTS: Final = ["120.00 EUR to Paper & Co", "80.50 EUR to Coffee Ltd"]

Tool = tuple[Callable[..., str], dict[str, Any]]


def list_issues() -> str:
    return "\n".join(f"#{number} {title}" for number, title in ISSUES.items())


def create_issue(title: str) -> str:
    number = max(ISSUES, default=0) + 1
    ISSUES[number] = title
    return f"created #{number}"


def delete_issue(number: int) -> str:
    return f"deleted #{number} {ISSUES.pop(number)}"


def list_appointments() -> str:
    return "\n".join(APPOINTMENTS)


def plan_appointment(day: str, title: str) -> str:
    APPOINTMENTS.append(f"{day}: {title}")
    return f"planned {APPOINTMENTS[-1]}"


def find_payments(payee: str) -> str:
    found = [each for each in PAYMENTS if payee.lower() in each.lower()]
    return "\n".join(found) or "none"


def send_payment(payee: str, amount: str) -> str:
    PAYMENTS.append(f"{amount} to {payee}")
    return f"sent {PAYMENTS[-1]}"


def _tools(
    *described: tuple[Callable[..., str], str, Mapping[str, Any]],
) -> dict[str, Tool]:
    return {
        function.__name__: (
            function,
            {
                "name": function.__name__,
                "description": description,
                "inputSchema": {
                    "type": "object",
                    "properties": arguments,
                    "required": [*arguments],
                    "additionalProperties": False,
                },
            },
        )
        for function, description, arguments in described
    }


# By the paths of their servers.
SERVERS: Final[Mapping[str, Mapping[str, Tool]]] = {
    "/mcp": _tools(
        (list_issues, "List the open issues.", {}),
        (create_issue, "File an issue.", {"title": TEXT}),
        (delete_issue, "Delete an issue.", {"number": NUMBER}),
    ),
    "/calendar/mcp": _tools(
        (list_appointments, "List the appointments of this week.", {}),
        (plan_appointment, "Plan an appointment.", {"day": TEXT, "title": TEXT}),
    ),
    "/payments/mcp": _tools(
        (find_payments, "Find payments by their payee.", {"payee": TEXT}),
        (send_payment, "Send a payment.", {"payee": TEXT, "amount": AMOUNT}),
    ),
}


def _answer(
    tools: Mapping[str, Tool], method: str, params: Mapping[str, Any]
) -> dict[str, Any] | None:
    cached = {"ttlMs": 60_000, "cacheScope": "public"}
    if method == "server/discover":
        return {
            "supportedVersions": [REVISION],
            "capabilities": {"tools": {}},
            **cached,
        }
    if method == "tools/list":
        return {"tools": [document for _, document in tools.values()], **cached}
    if method == "tools/call" and params.get("name") in tools:
        function, _ = tools[params["name"]]
        try:
            text, is_error = function(**params.get("arguments", {})), False
        except (TypeError, KeyError, AttributeError):
            text, is_error = "these are not the tool's arguments", True
        return {"content": [{"type": "text", "text": text}], "isError": is_error}
    return None


async def post(tools: Mapping[str, Tool], request: web.Request) -> web.Response:
    message = orjson.loads(await request.read())
    if "id" not in message:
        return web.Response(status=202)
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
    result = _answer(tools, message["method"], message.get("params", {}))
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
    for path, tools in SERVERS.items():
        app.router.add_post(path, partial(post, tools))
    uvloop.install()
    with socket.socket(fileno=int(sys.argv[1])) as listener:
        web.run_app(app, sock=listener, print=None, access_log=None)


if __name__ == "__main__":
    main()
