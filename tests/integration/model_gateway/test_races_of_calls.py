"""Calls race with what takes them back: none is sent after that was acknowledged."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from aiohttp import web

from service.http.direct_response import DirectResponse
from service.http.rate_limit import Buckets
from service.upstream_http.connection import Connection
from service.upstream_http.connections import Connections
from service.upstream_http.response import Response
from tests.integration.model_gateway.dialects import CHAT
from tests.integration.model_gateway.provider import answer, provider
from tests.integration.model_gateway.stage import KEY, Stage
from tests.support.callers import Reply
from tests.support.model_gateway.asking import (
    CONNECTIONS,
    PRESETS,
    grant_path,
    granted,
    put_routing,
    routed,
    to_preset,
)

CALLERS = 4
SLOWEST_S = 0.01


@dataclass
class Taken:
    """What is taken back and given again, with the present ids of the stage."""

    stage: Stage
    preset: str
    connection: dict[str, Any]
    random: Random = field(default_factory=lambda: Random(1))  # noqa: S311 # no secret

    async def token(self) -> Reply:
        tokens = f"/api/mcp/agents/{self.stage.agent}/tokens"
        (token,) = (await self.stage.ada.get(tokens)).data["tokens"]
        return await self.stage.ada.delete(f"{tokens}/{token['id']}")

    async def token_again(self) -> None:
        tokens = f"/api/mcp/agents/{self.stage.agent}/tokens"
        made = await self.stage.ada.post(tokens, {"label": "test"})
        self.stage.token = made.data["token"]

    async def grant(self) -> Reply:
        return await self.stage.owner.delete(grant_path(self.preset, self.stage.agent))

    async def grant_again(self) -> None:
        await granted(self.stage.owner, self.preset, self.stage.agent)

    async def route(self) -> Reply:
        return await put_routing(self.stage.ada, self.stage.agent)

    async def route_again(self) -> None:
        route = to_preset("*", self.preset)
        await routed(self.stage.ada, self.stage.agent, route)

    async def address(self) -> Reply:
        return await self._put_connection("http://127.0.0.1:9/v1")

    async def address_again(self) -> None:
        await self._put_connection(self.connection["base_url"])

    async def _put_connection(self, url: str) -> Reply:
        path = f"{CONNECTIONS}/{self.connection['id']}"
        body = {
            name: self.connection[name]
            for name in ("name", "dialects", "provider", "credential", "record_mode")
        }
        return await self.stage.owner.put(path, {**body, "base_url": url})

    async def secret(self) -> Reply:
        return await self.stage.owner.delete("/api/secrets/provider")

    async def secret_again(self) -> None:
        made = {"name": "provider", "value": KEY}
        assert (await self.stage.owner.post("/api/secrets", made)).status == 201


@dataclass
class Times:
    """When calls were sent, and when answers that acknowledge a change were written."""

    sent: list[float] = field(default_factory=list)
    acknowledged: list[float] = field(default_factory=list)

    def watch(self, monkeypatch: pytest.MonkeyPatch, random: Random) -> None:
        send, connect = Connections.send, Connections.connect
        prepare = DirectResponse.prepare

        async def sends(
            connections: Connections,
            connection: Connection,
            url: str,
            headers: Mapping[str, str],
            body: bytes,
        ) -> Response:
            self.sent.append(time.monotonic())
            return await send(connections, connection, url, headers, body)

        async def connects(connections: Connections, url: str) -> Connection:
            await asyncio.sleep(random.random() * SLOWEST_S)
            return await connect(connections, url)

        async def prepares(response: DirectResponse, request: web.Request) -> Any:
            if request.method != "GET" and "/llm/" not in request.path:
                self.acknowledged.append(time.monotonic())
            return await prepare(response, request)

        monkeypatch.setattr(Connections, "send", sends)
        monkeypatch.setattr(Connections, "connect", connects)
        monkeypatch.setattr(DirectResponse, "prepare", prepares)


async def race(taken: Taken, times: Times, what: str) -> tuple[int, int]:
    """Let calls race with one change; return how many were sent, and how many late."""
    times.sent.clear()
    before = await taken.stage.call(CHAT)
    assert before.status == 200, await before.text()
    calls = [asyncio.ensure_future(taken.stage.call(CHAT)) for _ in range(CALLERS)]
    await asyncio.sleep(taken.random.random() * SLOWEST_S)
    times.acknowledged.clear()
    revoke: Callable[[], Awaitable[Reply]] = getattr(taken, what)
    assert (await revoke()).status == 200
    at = times.acknowledged[0]
    after = await taken.stage.call(CHAT)
    assert after.status in (401, 404, 503), await after.text()
    for call in calls:
        assert (await call).status in (200, 401, 404, 503)
    late = [each for each in times.sent if each > at]
    await getattr(taken, f"{what}_again")()
    return len(times.sent), len(late)


@pytest.mark.parametrize("races", [10, pytest.param(200, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("what", ["token", "grant", "route", "address", "secret"])
async def test_no_call_is_sent_after_the_acknowledgement(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, what: str, races: int
) -> None:
    async with provider(answer(CHAT.whole)) as made:
        made.closes = True
        preset = await stage.routes_to(made.url)
        shown = (await stage.owner.get(f"{PRESETS}/{preset}")).data
        (target,) = shown["groups"][0]["targets"]
        path = f"{CONNECTIONS}/{target['connection_id']}"
        taken = Taken(stage, preset, (await stage.owner.get(path)).data)
        # A token that is revoked is presented often.
        monkeypatch.setattr(Buckets, "take", lambda _buckets, _address: 0.0)
        times = Times()
        times.watch(monkeypatch, taken.random)

        counts = [await race(taken, times, what) for _ in range(races)]

    sent, late = (sum(each) for each in zip(*counts, strict=True))
    assert late == 0, f"{late} of {sent}"
    assert len(made.received) == sent
