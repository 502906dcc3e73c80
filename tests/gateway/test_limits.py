"""Limits of a process: calls in flight, time to connect, records that wait."""

import asyncio
from contextlib import ExitStack
from typing import Any
from uuid import uuid4

import aiohappyeyeballs
import pytest

from service.errors import TooManyRequestsError, UnavailableError
from service.gateway.calls import recorder
from service.gateway.endpoint.request_state import EXPIRY_S, RequestState, RequestStates
from service.gateway.gate import Call, Caller
from service.gateway.protocol.errors import RpcError
from service.gateway.upstream import connections
from service.gateway.upstream.errors import NOT_REACHABLE
from service.gateway.upstream.limits import (
    CALLS_MAX,
    CALLS_OF_AGENT_MAX,
    CALLS_OF_CONNECTOR_MAX,
    CallLimits,
)
from tests.gateway.stage import opened
from tests.gateway.world import ALLOW, World

SILENT_PORT = 9


def test_calls_in_flight_are_limited_by_agent_connector_and_process() -> None:
    limits = CallLimits()
    agent, connector = uuid4(), uuid4()

    with ExitStack() as calls:
        for _ in range(CALLS_OF_AGENT_MAX):
            calls.enter_context(limits.counted(agent, uuid4()))
        for _ in range(CALLS_OF_CONNECTOR_MAX):
            calls.enter_context(limits.counted(uuid4(), connector))
        of_agent = limits.reached(agent, uuid4())
        of_connector = limits.reached(uuid4(), connector)
        of_others = limits.reached(uuid4(), uuid4())
        for _ in range(CALLS_MAX - CALLS_OF_AGENT_MAX - CALLS_OF_CONNECTOR_MAX):
            calls.enter_context(limits.counted(uuid4(), uuid4()))
        of_process = limits.reached(uuid4(), uuid4())

    assert isinstance(of_agent, TooManyRequestsError)
    assert isinstance(of_connector, TooManyRequestsError)
    assert of_others is None
    assert isinstance(of_process, UnavailableError)
    for error in (of_agent, of_connector, of_process):
        assert error.headers == {"Retry-After": "1"}
    assert limits.reached(agent, connector) is None


async def test_connecting_takes_no_longer_than_it_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connect = aiohappyeyeballs.start_connection

    async def connect_for_ever(addr_infos: Any, **settings: Any) -> Any:
        if addr_infos[0][4][1] == SILENT_PORT:
            await asyncio.Event().wait()
        return await connect(addr_infos, **settings)

    monkeypatch.setattr(aiohappyeyeballs, "start_connection", connect_for_ever)
    monkeypatch.setattr(connections, "CONNECT_S", 0.05)
    async with opened() as stage:
        stage.gate.connect(f"http://127.0.0.1:{SILENT_PORT}/mcp", "add")

        got = await stage.call("tools_add")

    assert got.content == NOT_REACHABLE
    assert not stage.gate.calls
    assert stage.gate.refusals == ["not_connected"]


@pytest.mark.parametrize("mode", ["strict", "batched"])
async def test_no_more_is_admitted_than_can_be_recorded(
    world: World, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    await world.rule(issues_any=ALLOW)
    settings = {"slug": "tracker", "record_mode": mode}
    await world.ada.put(f"{world.connector}/gateway", settings)
    monkeypatch.setattr(recorder, "WAITING_MAX", 0)

    with pytest.raises(UnavailableError) as refused:
        await world.call("issues.list")

    assert refused.value.headers == {"Retry-After": "1"}
    assert await world.recorded("tool_call.admitted", "tool_call.batched") == []


def test_the_state_of_a_round_expires() -> None:
    states = RequestStates(lambda *_: b"m" * 32)
    caller = Caller(agent_id=uuid4(), token_id=uuid4(), user_id=None)
    call = Call(connector_id=uuid4(), tool="add", arguments=b"{}", request_id="1")
    state = RequestState("upstream", "of the upstream")

    sealed = states.seal(state, caller, call, 1000.0)

    assert states.open(sealed, caller, call, 1000.0 + EXPIRY_S) == state
    with pytest.raises(RpcError, match="expired"):
        states.open(sealed, caller, call, 1001.0 + EXPIRY_S)
