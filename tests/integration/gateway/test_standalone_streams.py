"""Servers that ask on their standalone stream are told that nobody answers there."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from mcp import types
from mcp.server.mcpserver import Context

from service.gateway.gate import Outcome
from service.gateway.upstream import standalone_streams
from tests.integration.gateway.plain_upstream import answered
from tests.integration.gateway.sdk_server import serving, tools
from tests.integration.gateway.stage import Stage, opened
from tests.support.waiting import TIMEOUT_S, until

pytestmark = pytest.mark.filterwarnings(
    "ignore::mcp.shared.exceptions.MCPDeprecationWarning"
)
LISTENING = "MCP standalone stream"
QUESTIONS = ["sampling/createMessage", "elicitation/create", "roots/list", "x/unknown"]


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_a_tool_of_the_official_sdk_fails_at_once(mode: str) -> None:
    server = tools()

    @server.tool()
    async def rhyme(ctx: Context) -> str:
        """Rhyme."""
        text = types.TextContent(type="text", text="rhyme")
        asked = [types.SamplingMessage(role="user", content=text)]
        # Related to no request, so not in the call's own stream.
        await ctx.session.create_message(asked, max_tokens=9)
        return "never"

    async with serving(server, handshake_only=True) as url, opened() as stage:
        stage.gate.connect(url, "rhyme", "add")
        async with stage.client(mode) as client, asyncio.timeout(TIMEOUT_S):
            await client.list_tools()
            for _ in range(2):
                result = await client.call_tool("tools_rhyme", {})
                assert result.is_error
            after = await client.call_tool("tools_add", {"a": 1, "b": 2})

    assert after.content[0].text == "3"  # type: ignore[union-attr]
    outcomes = [each.outcome for each in stage.gate.ended]
    refused = Outcome.UPSTREAM_ERROR
    assert outcomes == [refused, refused, Outcome.OK]


@dataclass
class Asking:
    """A server with a session that says on its stream what a test puts in.

    Nothing (``b""``) ends the stream; with ``cuts``, its connection.
    """

    say: asyncio.Queue[bytes] = field(default_factory=asyncio.Queue)
    answers: list[Any] = field(default_factory=list)
    streams: int = 0
    open: int = 0
    # The queries of their URLs.
    queries: list[str] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    stream_status: int = 200
    knows: bool = True
    cuts: bool = False

    async def post(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        match body.get("method"):
            case "initialize":
                agreed = {"protocolVersion": "2025-11-25", "capabilities": {}}
                answer = answered(body, agreed)
                answer.headers["Mcp-Session-Id"] = "one"
                return answer
            case "tools/call":
                if not self.knows:
                    self.knows = True
                    return web.Response(status=404)
                return answered(body, {"content": [{"type": "text", "text": "hi"}]})
            case None:
                assert request.headers["Mcp-Session-Id"] == "one"
                self.answers.append(body)
                return web.Response(status=202)
        return web.Response(status=400 if "id" in body else 202)

    async def get(self, request: web.Request) -> web.StreamResponse:
        assert request.headers["Mcp-Session-Id"] == "one"
        assert request.headers["MCP-Protocol-Version"] == "2025-11-25"
        self.streams += 1
        if self.stream_status != 200:
            return web.Response(status=self.stream_status)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        self.open += 1
        self.queries.append(request.query_string)
        try:
            while said := await self.say.get():
                await response.write(b"data: " + said + b"\n\n")
            if self.cuts and request.transport is not None:
                request.transport.abort()
            return response
        finally:
            self.open -= 1
            self.queries.remove(request.query_string)
            self.ended.set()


@asynccontextmanager
async def asking() -> AsyncIterator[tuple[Asking, Stage]]:
    server = Asking()
    app = web.Application()
    app.router.add_post("/mcp", server.post)
    app.router.add_get("/mcp", server.get, allow_head=False)
    async with TestServer(app) as served, opened() as stage:
        stage.gate.connect(str(served.make_url("/mcp")), "add")
        yield server, stage


def is_listening() -> bool:
    return any(each.get_name() == LISTENING for each in asyncio.all_tasks())


async def test_questions_are_refused_and_pings_answered() -> None:
    async with asking() as (server, stage):
        assert (await stage.call("tools_add")).content == "hi"
        said: list[Any] = [
            *({"id": n, "method": each} for n, each in enumerate(QUESTIONS)),
            {"id": "p", "method": "ping"},
        ]
        for each in said:
            server.say.put_nowait(orjson.dumps({"jsonrpc": "2.0", **each}))
        await until(lambda: len(server.answers) == len(said))

    codes = {each["id"]: each.get("error", {}).get("code") for each in server.answers}
    assert codes == {0: -32601, 1: -32601, 2: -32601, 3: -32601, "p": None}
    assert server.answers[-1]["result"] == {}
    assert server.streams == 1


@pytest.mark.parametrize(
    "said", [b"no json", b"[]", b'"text"', b'{"method":7,"id":1}', b'{"id":{}}']
)
async def test_what_is_no_question_ends_nothing(said: bytes) -> None:
    async with asking() as (server, stage):
        assert (await stage.call("tools_add")).content == "hi"
        server.say.put_nowait(said)
        server.say.put_nowait(b'{"jsonrpc":"2.0","id":7,"method":"ping"}')
        await until(lambda: bool(server.answers))

        assert (await stage.call("tools_add")).content == "hi"

    assert [each["id"] for each in server.answers] == [7]


@pytest.mark.parametrize("status", [405, 404, 500, 401])
async def test_a_server_without_a_stream_is_called_as_before(status: int) -> None:
    async with asking() as (server, stage):
        server.stream_status = status
        for _ in range(2):
            assert (await stage.call("tools_add")).content == "hi"

    assert server.streams == 1


async def test_the_stream_ends_with_its_session() -> None:
    async with asking() as (server, stage):
        await stage.call("tools_add")
        server.knows = False

        assert (await stage.call("tools_add")).content == "hi"

        await asyncio.wait_for(server.ended.wait(), TIMEOUT_S)
        await until(lambda: server.streams == 2)


async def test_streams_are_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standalone_streams, "STREAMS_MAX", 1)
    async with asking() as (server, stage):
        await stage.call("tools_add")
        url = next(iter(stage.gate.upstreams.values())).url
        stage.gate.connect(url, "add", slug="more")
        await stage.call("more_add")

        await asyncio.wait_for(server.ended.wait(), TIMEOUT_S)
        assert server.streams == 2


async def test_of_too_many_streams_that_of_the_last_call_longest_ago_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(standalone_streams, "STREAMS_MAX", 2)
    async with asking() as (server, stage):
        url = next(iter(stage.gate.upstreams.values())).url
        for name in ("a", "b", "c"):
            stage.gate.connect(f"{url}?{name}", "add", slug=name)
        for name in ("a", "b", "a", "c"):
            assert (await stage.call(f"{name}_add")).content == "hi"

        await until(lambda: sorted(server.queries) == ["a", "c"])


async def test_callers_with_one_session_id_have_one_stream() -> None:
    async with asking() as (server, stage):
        await stage.call("tools_add")
        # Observing is a caller of its own, which is given the same id, and loses it.
        (connector_id,) = stage.gate.upstreams
        stage.observer.list_changed(connector_id)

        await until(lambda: server.streams == 2 and server.open == 0)


@pytest.mark.parametrize("cuts", [False, True])
async def test_a_stream_that_its_server_ends_is_opened_again(
    monkeypatch: pytest.MonkeyPatch,
    cuts: bool,  # noqa: FBT001
) -> None:
    monkeypatch.setattr(standalone_streams, "PAUSE_S", 0.0)
    async with asking() as (server, stage):
        server.cuts = cuts
        await stage.call("tools_add")
        for streams in (2, 3):
            server.say.put_nowait(b"")
            await until(lambda: server.streams == streams)  # noqa: B023
        question = {"jsonrpc": "2.0", "id": 1, "method": "roots/list"}
        server.say.put_nowait(orjson.dumps(question))
        await until(lambda: bool(server.answers))

    assert server.answers[0]["error"]["code"] == -32601


@pytest.mark.parametrize("status", [405, 404, 500])
async def test_a_stream_that_is_refused_is_not_opened_again(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr(standalone_streams, "PAUSE_S", 0.0)
    async with asking() as (server, stage):
        await stage.call("tools_add")
        server.stream_status = status
        server.say.put_nowait(b"")

        await until(lambda: not is_listening())

    assert server.streams == 2


@pytest.mark.parametrize("after_each", [[], [b""]], ids=["one stream", "many"])
@pytest.mark.parametrize("bound", ["ANSWERS_MAX", "PARSED_BYTES_MAX"])
async def test_a_server_that_asks_without_end_is_left(
    monkeypatch: pytest.MonkeyPatch, bound: str, after_each: list[bytes]
) -> None:
    monkeypatch.setattr(standalone_streams, "PAUSE_S", 0.0)
    question = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "roots/list"})
    limit = 3 if bound == "ANSWERS_MAX" else 3 * len(question)
    monkeypatch.setattr(standalone_streams, bound, limit)
    async with asking() as (server, stage):
        assert (await stage.call("tools_add")).content == "hi"
        for each in [question, *after_each] * 9:
            server.say.put_nowait(each)

        await until(lambda: not is_listening())

        assert (await stage.call("tools_add")).content == "hi"
    assert len(server.answers) == 3
