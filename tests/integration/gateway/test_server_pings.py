"""Servers that ask within a call whether the gateway is still there."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from service.gateway.upstream.errors import WANTS_INPUT
from tests.integration.gateway.plain_upstream import answered, streamed
from tests.integration.gateway.stage import Stage, forwarding, opened
from tests.support.waiting import TIMEOUT_S

RESULT = {"content": [{"type": "text", "text": "hello"}]}


class PingingServer:
    """Of 2025-11-25: pings in the stream of a call, which ends once it has its answer.

    ``answers`` are what it got. It pings so many ``times``, with ``asks`` in the end.
    """

    def __init__(self, ping_id: Any, times: int = 1, method: str = "ping") -> None:
        self.ping = {"jsonrpc": "2.0", "id": ping_id, "method": method}
        self.times = times
        self.answers: list[tuple[str | None, dict[str, Any]]] = []
        self.is_answered = asyncio.Event()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if "method" not in body:
            self.answers.append((request.headers.get("Mcp-Session-Id"), body))
            self.is_answered.set()
            return web.Response(status=202)
        match body["method"]:
            case "server/discover":
                return web.Response(status=404)
            case "initialize":
                agreed = {"protocolVersion": "2025-11-25", "capabilities": {}}
                answer = answered(body, agreed)
                answer.headers["Mcp-Session-Id"] = "one"
                return answer
            case "tools/call" | "tools/list":
                return await self._stream(request, body)
        return web.Response(status=202)

    async def _stream(self, request: web.Request, body: Any) -> web.StreamResponse:
        ping = orjson.dumps(self.ping)
        response = await streamed(request, *([ping] * self.times))
        await asyncio.wait_for(self.is_answered.wait(), TIMEOUT_S)
        tools = [{"name": "add", "inputSchema": {"type": "object"}}]
        result = {**RESULT, "tools": tools}
        answer = {"jsonrpc": "2.0", "id": body["id"], "result": result}
        await response.write(b"data: " + orjson.dumps(answer) + b"\n\n")
        return response


@asynccontextmanager
async def pinging(
    ping_id: Any, **settings: Any
) -> AsyncIterator[tuple[PingingServer, Stage]]:
    served = PingingServer(ping_id, **settings)
    app = web.Application()
    app.router.add_post("/mcp", served.handle)
    async with TestServer(app) as server, opened() as stage:
        stage.gate.connect(str(server.make_url("/mcp")), "add")
        yield served, stage


@pytest.mark.parametrize("ping_id", [7, "ping-1", 0, ""])
async def test_a_ping_within_a_call_is_answered(ping_id: Any) -> None:
    async with pinging(ping_id) as (served, stage):
        got = await stage.call("tools_add")

    assert got.content == "hello"
    assert served.answers == [("one", {"jsonrpc": "2.0", "id": ping_id, "result": {}})]


async def test_a_ping_while_tools_are_listed_is_answered() -> None:
    async with pinging(1) as (served, stage):
        await stage.observer.step()
        await stage.observer.settled()

    assert [names for _, names in stage.gate.observations] == [["add"]]
    assert len(served.answers) == 1


async def test_of_many_pings_at_once_not_each_is_answered() -> None:
    """A server could have the gateway send any number of requests."""
    async with pinging(1, times=100) as (served, stage):
        got = await stage.call("tools_add")

    assert got.content == "hello"
    assert len(served.answers) < 100


async def test_what_else_a_server_asks_ends_the_call() -> None:
    async with pinging(1, method="roots/list") as (served, stage):
        got = await stage.call("tools_add")

    assert got.content == WANTS_INPUT
    assert served.answers == []


@pytest.mark.parametrize("ping_id", [1, None, [], {}])
async def test_a_ping_of_a_stateless_server_is_ignored(ping_id: Any) -> None:
    """That revision has none, and nothing to post an answer to."""
    ping = orjson.dumps({"jsonrpc": "2.0", "id": ping_id, "method": "ping"})

    async def answer(request: web.Request, body: Any) -> web.StreamResponse:
        told = {"jsonrpc": "2.0", "id": body["id"], "result": RESULT}
        return await streamed(request, ping, orjson.dumps(told))

    async with forwarding(answer) as (upstream, stage):
        got = await stage.call("tools_add")

    assert got.content == "hello"
    assert len(upstream.requests) == 1
