"""A client with a handshake cancels a call by a message: nothing is made of it."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient

from service.config import Config
from service.gateway.endpoint.cancellations import Cancellations
from service.gateway.gate import Outcome
from service.gateway.protocol.revisions import ACCEPT
from tests.integration.gateway.fake_gate import TOKEN
from tests.integration.gateway.plain_upstream import (
    PlainUpstream,
    answered,
    plain_upstream,
)
from tests.integration.gateway.sdk_server import serving, tools
from tests.integration.gateway.second_process import another_process
from tests.integration.gateway.stage import Posted, Stage, forwarding, opened
from tests.integration.gateway.world import ASK, World, tool
from tests.support.configured import calling_loopback
from tests.support.waiting import until

REVISION = {"MCP_Protocol_Version": "2025-11-25"}
ONE, OTHER = {"Mcp_Session_Id": "one"}, {"Mcp_Session_Id": "other"}
TIMEOUT_S = 60


async def wait_for_ever(_request: web.Request, _body: Any) -> web.StreamResponse:
    await asyncio.Event().wait()
    return web.Response()


def call_of(request_id: object, **arguments: Any) -> dict[str, Any]:
    params = {"name": "tools_add", "arguments": arguments}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call"} | {
        "params": params
    }


def cancel_of(request_id: object) -> dict[str, Any]:
    params = {"requestId": request_id, "reason": "the user gave up"}
    return {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": params,
    }


def calling(
    stage: Stage, request_id: object, session: Mapping[str, str]
) -> asyncio.Task[Posted]:
    posted = stage.post(call_of(request_id), **REVISION, **session)
    return asyncio.create_task(posted)


async def cancel(stage: Stage, request_id: object, session: Mapping[str, str]) -> None:
    told = await stage.post(cancel_of(request_id), **REVISION, **session)
    assert (told.status, told.text) == (202, "")


@pytest.mark.parametrize("session", [ONE, {}], ids=["session", "no session"])
@pytest.mark.parametrize("request_id", [0, "a", 2**53])
async def test_a_cancelled_call_ends_without_an_answer(
    session: Mapping[str, str], request_id: object
) -> None:
    async with forwarding(wait_for_ever) as (upstream, stage):
        call = calling(stage, request_id, session)
        await upstream.entered.wait()

        await cancel(stage, request_id, session)
        got = await asyncio.wait_for(call, TIMEOUT_S)

        await asyncio.wait_for(upstream.left.wait(), TIMEOUT_S)
    assert (got.status, got.text) == (200, "")
    assert got.headers["Content-Type"] == "text/event-stream"
    assert [each.outcome for each in stage.gate.ended] == [Outcome.CANCELLED]


@pytest.mark.parametrize(
    ("request_id", "session"),
    [(1, OTHER), ("1", ONE), (2, ONE), (1, {}), (True, ONE), (1.0, ONE), (None, ONE)],
)
async def test_only_the_call_that_is_meant_is_cancelled(
    request_id: object, session: Mapping[str, str]
) -> None:
    announced: list[str] = []

    async def announce(names: Sequence[str]) -> None:
        announced.extend(names)

    others = Cancellations(announce)
    async with forwarding(wait_for_ever, cancellations=others) as (upstream, stage):
        call = calling(stage, 1, ONE)
        await upstream.entered.wait()

        await cancel(stage, request_id, session)
        assert len(announced) == isinstance(request_id, str | int) - (
            request_id is True
        )

        assert not call.done()
        await cancel(stage, 1, ONE)
        await asyncio.wait_for(call, TIMEOUT_S)


async def test_what_could_mean_two_calls_means_none() -> None:
    async with forwarding(wait_for_ever) as (upstream, stage):
        calls = [calling(stage, 1, {}) for _ in range(2)]
        await until(lambda: len(upstream.requests) == len(calls))

        await cancel(stage, 1, {})
        await stage.post({"jsonrpc": "2.0", "id": 2, "method": "ping"}, **REVISION)

        assert not any(call.done() for call in calls)
        assert not stage.gate.ended
        for call in calls:
            call.cancel()


async def test_a_cancelled_call_that_has_begun_to_stream_ends() -> None:
    async def progress(request: web.Request, body: Any) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        message = (
            b'{"jsonrpc":"2.0","method":"notifications/message",'
            b'"params":{"level":"info","data":"begun"}}'
        )
        await response.write(b"data: " + message + b"\n\n")
        return await wait_for_ever(request, body)

    async with forwarding(progress) as (upstream, stage):
        headers = {"Authorization": f"Bearer {'art_agent_token_of_the_tests'}"}
        headers |= {"Accept": "application/json, text/event-stream"}
        async with stage.http.post(
            stage.path(), json=call_of(1), headers=headers
        ) as response:
            assert b"begun" in await response.content.readuntil(b"\n\n")
            await cancel(stage, 1, {})
            rest = await asyncio.wait_for(response.content.read(), TIMEOUT_S)
        await asyncio.wait_for(upstream.left.wait(), TIMEOUT_S)

    assert rest == b""


async def test_a_call_is_cancelled_before_it_has_a_connection() -> None:
    async with forwarding() as (upstream, stage):
        upstream.discoverable.clear()
        call = calling(stage, 1, ONE)
        await asyncio.wait_for(upstream.was_asked.wait(), TIMEOUT_S)

        await cancel(stage, 1, ONE)
        got = await asyncio.wait_for(call, TIMEOUT_S)
        upstream.discoverable.set()

    assert got.text == ""
    assert not stage.gate.calls
    assert stage.gate.refusals == ["cancelled"]


async def test_cancelling_what_has_ended_is_no_error() -> None:
    async with forwarding() as (_, stage):
        assert (await calling(stage, 1, ONE)).content == "hello"

        ended: list[dict[str, Any]] = [{"requestId": 1}, {}, {"requestId": {}}]
        for params in ended:
            message = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
            told = await stage.post({**message, "params": params}, **REVISION, **ONE)
            assert told.status == 202

        assert (await calling(stage, 1, ONE)).content == "hello"


async def test_each_client_gets_a_session_of_its_own() -> None:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    async with forwarding() as (_, stage):
        answers = [await stage.post(message) for _ in range(2)]
        discovered = await stage.ask("server/discover")

    sessions = {each.headers["Mcp-Session-Id"] for each in answers}
    assert len(sessions) == 2
    assert "Mcp-Session-Id" not in discovered.headers


async def test_the_official_client_cancels_what_it_gives_up() -> None:
    """With a server of the official SDK, whose tool is told."""
    server = tools()
    begun, ended = asyncio.Event(), asyncio.Event()

    @server.tool()
    async def sleep() -> str:
        """Sleep."""
        begun.set()
        try:
            await asyncio.sleep(TIMEOUT_S)
        finally:
            ended.set()
        return "slept"

    async with serving(server, handshake_only=True) as url, opened() as stage:
        stage.gate.connect(url, "sleep", "add")
        async with stage.client("legacy") as client:
            await client.list_tools()
            call = asyncio.create_task(client.call_tool("tools_sleep", {}))
            await asyncio.wait_for(begun.wait(), TIMEOUT_S)
            call.cancel()
            await asyncio.wait_for(ended.wait(), TIMEOUT_S)
            after = await client.call_tool("tools_add", {"a": 1, "b": 2})

    assert after.content[0].text == "3"  # type: ignore[union-attr]
    outcomes = [each.outcome for each in stage.gate.ended]
    assert outcomes == [Outcome.CANCELLED, Outcome.OK]


async def test_a_session_id_may_have_bytes_that_are_no_text() -> None:
    body = orjson.dumps(call_of(1))
    async with forwarding() as (_, stage):
        lines = [
            f"POST {stage.path()} HTTP/1.1",
            "Host: here",
            f"Authorization: Bearer {TOKEN}",
            f"Accept: {ACCEPT}",
            "Content-Type: application/json",
            "Mcp-Session-Id: a\xff",
            f"Content-Length: {len(body)}",
            "Connection: close",
        ]
        url = stage.http.make_url("/")
        reader, writer = await asyncio.open_connection(url.host, url.port)
        head = "".join(f"{line}\r\n" for line in [*lines, ""])
        writer.write(head.encode("latin-1") + body)
        answer = await asyncio.wait_for(reader.read(), TIMEOUT_S)
        writer.close()
        await writer.wait_closed()

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"hello" in answer


@dataclass
class Client:
    """A client with a handshake, at one of the processes."""

    world: World
    http: TestClient
    headers: dict[str, str] = field(default_factory=lambda: {"Mcp-Session-Id": "one"})

    async def post(self, message: Any) -> tuple[int, str]:
        path = f"/mcp/agents/{self.world.agent_id}"
        path += f"/connectors/{self.world.connector_id}"
        token = {"Authorization": f"Bearer {self.world.token}", **self.headers}
        async with self.http.post(path, json=message, headers=token) as response:
            return response.status, await response.text()

    async def call(self, request_id: int) -> tuple[int, str]:
        params = {"name": "mix", "arguments": {"litres": 1}}
        message = {"jsonrpc": "2.0", "id": request_id, "method": "tools/call"}
        return await self.post(message | {"params": params})


@pytest.fixture
def config() -> Config:
    return calling_loopback(gateway_hold_s=TIMEOUT_S)


async def mixed(_request: web.Request, body: Any) -> web.StreamResponse:
    return answered(body, {"content": [{"type": "text", "text": "mixed"}]})


@pytest.fixture
async def upstream() -> AsyncIterator[PlainUpstream]:
    async with plain_upstream(mixed) as upstream:
        yield upstream


@pytest.fixture
async def asking(world: World, upstream: PlainUpstream) -> World:
    await world.moves(upstream.url)
    await world.lists(tool("mix"))
    await world.rule(mix=ASK)
    return world


async def is_asked(world: World) -> None:
    async def is_requested() -> bool:
        return bool(await world.recorded("approvals.requested"))

    await until(is_requested)


async def approve(world: World) -> None:
    requested = await world.recorded("approvals.requested")
    path = f"{world.agent}/approvals/{requested[-1].event.approval_id}/approve"
    assert (await world.ada.post(path, {})).status == 200


@pytest.mark.parametrize("here", [True, False], ids=["one process", "two"])
async def test_an_approval_waits_for_the_retry_of_a_cancelled_call(
    asking: World, upstream: PlainUpstream, tmp_path: Path, *, here: bool
) -> None:
    client = Client(asking, asking.client)
    async with another_process(asking, tmp_path, gateway_hold_s=TIMEOUT_S) as elsewhere:
        held = asyncio.create_task(client.call(7))
        await is_asked(asking)
        canceller = client if here else Client(asking, elsewhere)
        status, _ = await canceller.post(cancel_of(7))
        assert status == 202
        assert await asyncio.wait_for(held, TIMEOUT_S) == (200, "")

        await approve(asking)
        assert not upstream.requests
        assert not await asking.recorded("tool_call.admitted")
        _, answer = await client.call(8)

    assert "mixed" in answer
    called = [body for _, body in upstream.requests if body["method"] == "tools/call"]
    assert len(called) == 1
    topics = [each.topic for each in await asking.recorded()]
    assert topics.count("approvals.requested") == 1
    assert topics.count("approvals.used") == 1


async def test_another_token_cancels_nothing(
    asking: World, upstream: PlainUpstream
) -> None:
    issued = await asking.ada.post(f"{asking.agent}/tokens", {"label": "another"})
    client = Client(asking, asking.client)
    stranger = Client(asking, asking.client)
    stranger.headers |= {"Authorization": f"Bearer {issued.data['token']}"}
    held = asyncio.create_task(client.call(7))

    await is_asked(asking)
    status, _ = await stranger.post(cancel_of(7))
    await approve(asking)

    assert status == 202
    assert "mixed" in (await asyncio.wait_for(held, TIMEOUT_S))[1]
