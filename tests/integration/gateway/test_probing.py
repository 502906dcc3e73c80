"""Servers with a handshake that answer the question for their revision oddly."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from service.connectors.protocol_revision import PROTOCOL_REVISIONS
from service.gateway.bounds import Bounds
from service.gateway.health.table import Failed, Succeeded
from service.gateway.protocol.revisions import HANDSHAKE_OF_UPSTREAMS, STATELESS
from service.gateway.upstream.errors import REFUSED
from tests.integration.gateway.plain_upstream import answered, streamed
from tests.integration.gateway.restarted_server import (
    Refusal,
    error,
    plain,
    restarted,
)
from tests.integration.gateway.stage import Stage, opened


@dataclass
class OddServer:
    """A server of 2025-11-25; ``asked`` are the methods of its requests."""

    discover: Refusal
    initialize: Refusal | None = None
    asked: list[str] = field(default_factory=list)
    offered: list[str] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.asked.append(body["method"])
        if body["method"] == "initialize":
            self.offered.append(body["params"]["protocolVersion"])
        match body["method"]:
            case "server/discover":
                return await self.discover(request, body)
            case "initialize" if self.initialize is not None:
                return await self.initialize(request, body)
            case "initialize":
                agreed = {"protocolVersion": "2025-11-25", "capabilities": {}}
                return answered(body, agreed)
            case "tools/list":
                tool = {"name": "add", "inputSchema": {"type": "object"}}
                return answered(body, {"tools": [tool]})
        return web.Response(status=202)


async def closed(request: web.Request, _body: Any) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.close()
    raise ConnectionResetError


async def page(_request: web.Request, _body: Any) -> web.StreamResponse:
    return web.Response(text="<html>", content_type="text/html")


async def not_json(_request: web.Request, _body: Any) -> web.StreamResponse:
    return web.Response(text="{", content_type="application/json")


async def cut(request: web.Request, _body: Any) -> web.StreamResponse:
    return await streamed(request)


async def batch(_request: web.Request, _body: Any) -> web.StreamResponse:
    return web.json_response([])


@asynccontextmanager
async def observed(
    discover: Refusal,
    initialize: Refusal | None = None,
    revision: str | None = None,
) -> AsyncIterator[tuple[OddServer, Stage, Succeeded | Failed]]:
    """The server, after its tools were observed once, and how that ended."""
    served = OddServer(discover, initialize)
    app = web.Application()
    app.router.add_post("/mcp", served.handle)
    async with TestServer(app) as server, opened() as stage:
        connector = stage.gate.connect(str(server.make_url("/mcp")))
        stage.gate.change(connector, revision=revision)
        await stage.observer.step()
        await stage.observer.settled()
        yield served, stage, stage.noted[0]


ODD: dict[str, Refusal] = {
    "500": plain(500),
    "503, JSON": error(-32603, "Internal error", status=503),
    "a page": page,
    "closed": closed,
    "an error of no id": error(-32600, "Invalid Request", of=None),
    "an error of another id": error(-32601, "Method not found", of="server-error"),
    "not JSON": not_json,
    "a batch": batch,
    "a stream that ends": cut,
    "204": plain(204),
    "405": plain(405),
    "an error": error(-32601, "Method not found"),
}


@pytest.mark.parametrize("name", ODD)
async def test_a_server_that_answers_the_question_oddly_has_its_tools(
    name: str,
) -> None:
    async with observed(ODD[name]) as (_, stage, _):
        assert [names for _, names in stage.gate.observations] == [["add"]]


FAILING: dict[str, tuple[Refusal, Refusal, str]] = {
    "both fail": (plain(500), plain(500), "http_status"),
    "a page, and closed": (page, closed, "web_page"),
    "500, and closed": (plain(500), closed, "http_status"),
    "closed, and 404": (closed, plain(404), "not_found"),
    "no credential": (plain(401), plain(401), "unauthorized"),
    "forbidden": (plain(403), plain(403), "forbidden"),
    "redirected": (plain(308), plain(308), "redirect"),
    "closed": (closed, closed, "connection_closed"),
}


@pytest.mark.parametrize("name", FAILING)
async def test_of_two_failures_the_more_telling_is_reported(name: str) -> None:
    discover, initialize, cause = FAILING[name]
    async with observed(discover, initialize) as (served, _, ended):
        assert isinstance(ended, Failed)
        assert ended.cause == cause
        assert served.asked == ["server/discover", "initialize"]


async def test_a_server_that_is_silent_is_asked_once() -> None:
    async def silent(_request: web.Request, _body: Any) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    served = OddServer(silent)
    app = web.Application()
    app.router.add_post("/mcp", served.handle)
    bounds = Bounds(silence_s=0.2)
    async with TestServer(app) as server, opened(bounds=bounds) as stage:
        stage.gate.connect(str(server.make_url("/mcp")))
        await stage.observer.step()
        await stage.observer.settled()

        assert isinstance(stage.noted[0], Failed)
        assert stage.noted[0].cause == "timeout"
    assert served.asked == ["server/discover"]


async def claims_to_be_stateless(
    _request: web.Request, body: Any
) -> web.StreamResponse:
    return answered(body, {"supportedVersions": [STATELESS]})


@pytest.mark.parametrize("revision", HANDSHAKE_OF_UPSTREAMS)
async def test_a_server_whose_revision_is_set_is_offered_that_at_once(
    revision: str,
) -> None:
    """Even where it claims to be stateless."""
    async with observed(claims_to_be_stateless, revision=revision) as (served, _, _):
        assert served.asked[0] == "initialize"
        assert served.offered == [revision]
        assert "server/discover" not in served.asked


async def test_a_server_that_is_set_to_be_stateless_is_not_asked() -> None:
    async with observed(plain(500), revision=STATELESS) as (served, stage, _):
        assert served.asked == ["tools/list"]
        assert [names for _, names in stage.gate.observations] == [["add"]]


async def test_a_server_that_is_set_to_be_stateless_gets_no_call_twice() -> None:
    """Whether it still answers server/discover says nothing about a session."""
    tool = error(-32000, "chat session not found")
    async with restarted(plain(404), is_stateless=True, tool=tool) as (served, stage):
        (upstream,) = stage.gate.upstreams.values()
        stage.gate.change(upstream, revision=STATELESS)
        served.answers_discover = False

        got = await stage.call("tools_add")

    assert got.content == REFUSED
    assert len(served.ran) == 1


def test_the_revisions_that_can_be_set_are_those_that_are_spoken() -> None:
    assert (STATELESS, *HANDSHAKE_OF_UPSTREAMS) == PROTOCOL_REVISIONS
