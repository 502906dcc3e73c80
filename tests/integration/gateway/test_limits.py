"""Limits of a process: time to connect, records that wait."""

import asyncio
from typing import Any

import aiohappyeyeballs
import pytest

from service.call_recording import recorder
from service.errors import UnavailableError
from service.gateway.upstream.errors import NOT_REACHABLE
from service.upstream_http import connections
from tests.integration.gateway.stage import opened
from tests.integration.gateway.world import ALLOW, World

SILENT_PORT = 9


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
    await world.record_mode(mode)
    monkeypatch.setattr(recorder, "WAITING_MAX", 0)

    with pytest.raises(UnavailableError) as refused:
        await world.call("issues.list")

    assert refused.value.headers == {"Retry-After": "1"}
    assert await world.recorded("tool_call.admitted", "tool_call.batched") == []
