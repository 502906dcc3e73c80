"""Sessions of upstreams with a handshake: whose they are, and how they end."""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from service.gateway.bounds import Bounds
from service.gateway.endpoint.channels import ATTEMPTS_MAX
from service.gateway.gate import Outcome, RefusalReason, Refused
from service.gateway.protocol.revisions import STATELESS
from service.gateway.upstream.errors import NO_ANSWER, SESSION_ENDED
from tests.integration.gateway.plain_upstream import answered, streamed
from tests.integration.gateway.stage import Stage, opened
from tests.support.waiting import TIMEOUT_S, until


@dataclass
class SessionServer:
    """A server of 2025-11-25; ``begun`` are its sessions, ``messages`` what it got."""

    begun: list[str] = field(default_factory=list)
    messages: list[tuple[str | None, dict[str, Any]]] = field(default_factory=list)
    is_slow: bool = False
    # It goes on to send, and never says which revision it speaks.
    agrees: bool = True
    # It answers server/discover, as it did before it went back to a handshake.
    is_stateless: bool = False
    # To a call without a session.
    refusal: dict[str, Any] = field(default_factory=dict)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    # It doesn't know any session, not even a new one.
    forgets: bool = False
    on_ended: Callable[[], None] = lambda: None

    def of_session(self, method: str) -> list[str | None]:
        return [session for session, each in self.messages if each["method"] == method]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        session = request.headers.get("Mcp-Session-Id")
        self.messages.append((session, body))
        match body["method"]:
            case "server/discover":
                if not self.agrees:
                    await self._notify_for_ever(request)
                if self.is_stateless:
                    return answered(body, {"supportedVersions": [STATELESS]})
                return web.Response(status=400)
            case "initialize":
                self.begun.append(f"session-{len(self.begun)}")
                agreed = {"protocolVersion": "2025-11-25", "capabilities": {}}
                answer = answered(body, agreed)
                answer.headers["Mcp-Session-Id"] = self.begun[-1]
                return answer
            case "tools/call":
                if session is None:
                    refused = {"jsonrpc": "2.0", "id": body["id"], **self.refusal}
                    return web.json_response(refused, status=400)
                return await self._call(session, body)
        return web.Response(status=202)

    async def _call(self, session: str, body: Any) -> web.Response:
        if session not in self.begun or self.forgets:
            self.on_ended()
            return web.Response(status=404)
        if self.is_slow:
            await asyncio.Event().wait()
        return answered(body, {"content": [{"type": "text", "text": session}]})

    async def _notify_for_ever(self, request: web.Request) -> None:
        response = await streamed(request)
        try:
            while True:
                await response.write(b'data: {"jsonrpc":"2.0","method":"x"}\n\n')
                await asyncio.sleep(0.01)
        finally:
            self.left.set()


@asynccontextmanager
async def session_server(
    **settings: Any,
) -> AsyncIterator[tuple[SessionServer, Stage]]:
    """The agent holds a connector with the tool ``add``, at such a server."""
    served = SessionServer()
    app = web.Application()
    app.router.add_post("/mcp", served.handle)
    async with TestServer(app) as server, opened(**settings) as stage:
        stage.gate.connect(str(server.make_url("/mcp")), "add")
        yield served, stage


async def test_users_of_an_agent_have_sessions_of_their_own() -> None:
    async with session_server() as (_, stage):
        got = []
        for user_id in (None, uuid4(), uuid4(), None):
            stage.gate.user_id = user_id
            got.append((await stage.call("tools_add")).content)

    assert got == ["session-0", "session-1", "session-2", "session-0"]


async def test_a_call_that_meets_the_end_of_its_session_is_made_again() -> None:
    """The server has done nothing; the call is decided, and recorded, once more."""
    async with session_server() as (served, stage):
        await stage.call("tools_add")
        served.begun[:] = ["another"]

        again = await stage.call("tools_add")

    assert again.content == "session-1"
    assert served.of_session("tools/call") == ["session-0", "session-0", "session-1"]
    assert [each.outcome for each in stage.gate.ended] == [
        Outcome.OK,
        Outcome.UPSTREAM_ERROR,
        Outcome.OK,
    ]
    assert len(stage.gate.calls) == 3


async def test_a_call_after_the_end_of_its_session_is_decided_anew() -> None:
    async with session_server() as (served, stage):
        await stage.call("tools_add")
        served.begun[:] = ["another"]

        def deny() -> None:
            refused = Refused(reason=RefusalReason.DENIED, message="unknown tool")
            stage.gate.denied["add"] = refused

        served.on_ended = deny
        again = await stage.call("tools_add")

    assert again.code == -32602
    assert served.of_session("tools/call") == ["session-0", "session-0"]
    assert served.begun == ["another"]


async def test_a_server_that_ends_each_session_at_once_is_asked_so_many_times() -> None:
    async with session_server() as (served, stage):
        served.forgets = True

        ended = await stage.call("tools_add")

    assert ended.content == SESSION_ENDED
    assert len(served.of_session("tools/call")) == ATTEMPTS_MAX


async def test_callers_that_meet_the_end_of_a_session_together_share_the_next() -> None:
    async with session_server() as (served, stage):
        await stage.call("tools_add")
        served.begun[:] = ["another"]

        again = await asyncio.gather(*(stage.call("tools_add") for _ in range(8)))

    assert {each.content for each in again} == {"session-1"}
    assert served.begun == ["another", "session-1"]


@pytest.mark.parametrize(
    "refusal",
    [
        {"error": {"code": -32022, "message": "Unsupported protocol version"}},
        {"error": {"code": -32600, "message": "Missing session ID"}, "id": None},
        {"error": {"code": -32602, "message": "of no request"}, "id": "server-error"},
        {"error": "of no code"},
        {"jsonrpc": "1.0"},
    ],
)
async def test_a_server_that_went_back_to_a_handshake_is_asked_when_it_refuses(
    refusal: dict[str, Any],
) -> None:
    async with session_server() as (served, stage):
        served.is_stateless, served.refusal = True, refusal
        await stage.call("tools_add")
        served.is_stateless = False

        assert (await stage.call("tools_add")).content == "session-0"


@pytest.mark.parametrize("code", [-32602, -32021])
async def test_a_server_is_not_asked_again_when_it_refuses_what_a_call_says(
    code: int,
) -> None:
    async with session_server() as (served, stage):
        served.is_stateless = True
        served.refusal = {"error": {"code": code, "message": "no"}}

        assert (await stage.call("tools_add")).code == code
        assert (await stage.call("tools_add")).code == code

    assert len(served.of_session("server/discover")) == 1


async def test_a_handshake_ends_also_when_its_caller_has_left(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bounds = Bounds(call_s=0.5)
    async with session_server(bounds=bounds) as (served, stage):
        served.agrees = False
        calling = asyncio.create_task(stage.call("tools_add"))
        await until(lambda: bool(served.messages))

        calling.cancel()

        await asyncio.wait_for(served.left.wait(), TIMEOUT_S)

    # Python says what nobody was told when the task is freed.
    gc.collect()
    assert "never retrieved" not in caplog.text


async def test_a_call_whose_handshake_takes_too_long_is_not_answered() -> None:
    bounds = Bounds(call_s=0.1)
    async with session_server(bounds=bounds) as (served, stage):
        served.agrees = False

        async with asyncio.timeout(TIMEOUT_S):
            got = await stage.call("tools_add")

    assert got.content == NO_ANSWER
    assert not stage.gate.calls
    assert stage.gate.refusals == ["not_connected"]


async def test_a_server_with_a_handshake_is_told_of_a_cancellation() -> None:
    async with session_server() as (served, stage):
        served.is_slow = True
        calling = asyncio.create_task(stage.call("tools_add"))
        await until(lambda: bool(served.of_session("tools/call")))

        calling.cancel()

        await until(lambda: bool(served.of_session("notifications/cancelled")))
        await asyncio.wait_for(stage.gate.ended_one.wait(), 60)
    (session, told), *_ = [
        each
        for each in served.messages
        if each[1]["method"] == "notifications/cancelled"
    ]
    (called,) = [body for _, body in served.messages if body["method"] == "tools/call"]
    assert session == "session-0"
    assert told["params"] == {"requestId": called["id"]}
    assert [each.outcome for each in stage.gate.ended] == [Outcome.CANCELLED]
