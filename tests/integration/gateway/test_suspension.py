"""When calls of a connector that couldn't be reached are forwarded again."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr

from service.circuit_breaker import FAILURES_MAX, REST_S, CircuitBreaker
from service.errors import NotFoundError
from service.gateway.endpoint import forwarding
from service.gateway.gate import (
    CallRequest,
    Pending,
    Refused,
    Upstream,
)
from service.gateway.upstream.errors import FAILED, NOT_REACHABLE
from service.secrets.sent import Credential
from tests.integration.gateway.fake_gate import PENDING, FakeGate
from tests.integration.gateway.plain_upstream import hello, plain_upstream
from tests.integration.gateway.stage import Stage, opened
from tests.support.clock import Clock
from tests.support.waiting import TIMEOUT_S, until


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """What circuit breakers take for the time."""
    clock = Clock()
    monkeypatch.setattr(forwarding, "CircuitBreaker", partial(CircuitBreaker, clock))
    return clock


async def back_after_a_rest(stage: Stage, url: str, clock: Clock) -> Upstream:
    """Let calls fail until the connector is suspended; then its server is back."""
    connector = stage.gate.connect("http://127.0.0.1:1/mcp", "add")
    for _ in range(FAILURES_MAX):
        assert (await stage.call("tools_add")).content == NOT_REACHABLE
    clock.now += REST_S
    stage.gate.prepared.clear()
    stage.gate.refusals.clear()
    return stage.gate.change(connector, url=url)


def credential(reveal: Callable[[], Awaitable[SecretStr]]) -> Credential:
    return Credential(header="Authorization", reveal=reveal)


async def wait_for_ever(_request: web.Request, _body: Any) -> web.StreamResponse:
    await asyncio.Event().wait()
    raise AssertionError


async def unavailable(_request: web.Request, _body: Any) -> web.StreamResponse:
    return web.Response(status=503)


async def test_others_may_call_while_the_trial_waits_for_its_answer(
    clock: Clock,
) -> None:
    async with plain_upstream(wait_for_ever) as upstream, opened() as stage:
        await back_after_a_rest(stage, upstream.url, clock)
        trial = asyncio.create_task(stage.call("tools_add"))
        await asyncio.wait_for(upstream.entered.wait(), TIMEOUT_S)
        upstream.answer = hello

        assert (await stage.call("tools_add")).content == "hello"

        trial.cancel()
        await asyncio.gather(trial, return_exceptions=True)


async def test_others_may_call_while_the_trial_shakes_hands(clock: Clock) -> None:
    async with plain_upstream() as upstream, opened() as stage:
        await back_after_a_rest(stage, upstream.url, clock)
        upstream.discoverable.clear()
        trial = asyncio.create_task(stage.call("tools_add"))
        await asyncio.wait_for(upstream.was_asked.wait(), TIMEOUT_S)
        other = asyncio.create_task(stage.call("tools_add"))
        await until(lambda: len(stage.gate.prepared) == 2)
        upstream.discoverable.set()

        assert (await trial).content == (await other).content == "hello"


async def test_a_trial_that_is_answered_with_an_error_was_connected(
    clock: Clock,
) -> None:
    async with plain_upstream(unavailable) as upstream, opened() as stage:
        await back_after_a_rest(stage, upstream.url, clock)
        assert (await stage.call("tools_add")).content == FAILED
        upstream.answer = hello

        assert (await stage.call("tools_add")).content == "hello"


async def test_after_a_trial_that_was_not_sent_the_next_call_is_one(
    clock: Clock,
) -> None:
    async def missing() -> SecretStr:
        raise NotFoundError("the credential of the connector is not there any more")

    async with plain_upstream() as upstream, opened() as stage:
        connector = await back_after_a_rest(stage, upstream.url, clock)
        connector = stage.gate.change(connector, credential=credential(missing))
        assert (await stage.call("tools_add")).body["result"]["isError"]
        stage.gate.change(connector, credential=None)

        assert (await stage.call("tools_add")).content == "hello"


async def test_nothing_is_admitted_while_a_trial_is_under_way(clock: Clock) -> None:
    revealing, revealed = asyncio.Event(), asyncio.Event()

    async def reveal() -> SecretStr:
        revealing.set()
        await revealed.wait()
        return SecretStr("Bearer of the connector")

    async with plain_upstream() as upstream, opened() as stage:
        connector = await back_after_a_rest(stage, upstream.url, clock)
        stage.gate.change(connector, credential=credential(reveal))
        trial = asyncio.create_task(stage.call("tools_add"))
        await asyncio.wait_for(revealing.wait(), TIMEOUT_S)

        assert (await stage.call("tools_add")).content == NOT_REACHABLE
        assert len(stage.gate.prepared) == 1
        assert stage.gate.refusals == ["circuit_open"]

        revealed.set()
        assert (await trial).content == "hello"


class SlowGate(FakeGate):
    """Decides when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may_decide = asyncio.Event()
        self.may_decide.set()

    async def prepare(self, request: CallRequest) -> Upstream | Refused | Pending:
        decision = await super().prepare(request)
        await self.may_decide.wait()
        return decision


async def test_one_call_tries_to_connect_at_a_suspensions_end(clock: Clock) -> None:
    gate = SlowGate()
    async with plain_upstream() as upstream, opened(gate) as stage:
        await back_after_a_rest(stage, upstream.url, clock)
        gate.may_decide.clear()
        trial = asyncio.create_task(stage.call("tools_add"))
        await until(lambda: len(gate.prepared) == 1)

        assert (await stage.call("tools_add")).content == NOT_REACHABLE
        assert len(gate.prepared) == 1
        assert gate.refusals == ["circuit_open"]

        gate.may_decide.set()
        assert (await trial).content == "hello"


async def test_a_trial_that_is_not_admitted_leaves_the_next_call_one(
    clock: Clock,
) -> None:
    async with plain_upstream() as upstream, opened() as stage:
        await back_after_a_rest(stage, upstream.url, clock)
        stage.gate.asked.add("add")
        assert (await stage.call("tools_add")).content == PENDING
        stage.gate.approved.set()

        assert (await stage.call("tools_add")).content == "hello"


async def test_the_next_call_is_the_trial_when_the_one_before_has_left(
    clock: Clock,
) -> None:
    revealing = asyncio.Event()

    async def reveal() -> SecretStr:
        revealing.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with plain_upstream() as upstream, opened() as stage:
        connector = await back_after_a_rest(stage, upstream.url, clock)
        connector = stage.gate.change(connector, credential=credential(reveal))
        trial = asyncio.create_task(stage.call("tools_add"))
        await asyncio.wait_for(revealing.wait(), TIMEOUT_S)
        trial.cancel()
        await until(lambda: stage.gate.refusals == ["cancelled"])
        stage.gate.change(connector, credential=None)

        assert (await stage.call("tools_add")).content == "hello"


async def test_an_approval_during_a_suspension_is_not_used_up(clock: Clock) -> None:
    async with opened(hold_s=TIMEOUT_S) as stage:
        stage.gate.connect("http://127.0.0.1:1/mcp", "add", "sub")
        stage.gate.asked.add("add")
        held = asyncio.create_task(stage.call("tools_add"))
        await until(lambda: len(stage.gate.prepared) == 1)
        for _ in range(FAILURES_MAX):
            assert (await stage.call("tools_sub")).content == NOT_REACHABLE

        stage.gate.approved.set()

        assert (await held).content == NOT_REACHABLE
        assert [each.tool for each in stage.gate.prepared] == ["add", *["sub"] * 3]
        assert stage.gate.refusals == [*["not_connected"] * 3, "circuit_open"]
        assert not stage.gate.calls
