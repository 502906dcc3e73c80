"""The official SDK's client and server, through the gateway, in both eras."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from service.gateway.gate import Outcome
from tests.integration.gateway.sdk_server import serving, tools
from tests.integration.gateway.stage import Stage, opened

ERAS = ["2026-07-28", "legacy", "auto"]
SERVERS = {
    "stateless": {},
    "sessions": {"handshake_only": True},
    "json": {"handshake_only": True, "json_response": True},
    "sessionless": {"handshake_only": True, "stateless_http": True},
}


@pytest.fixture(params=SERVERS)
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(
            serving(tools(), **SERVERS[request.param])
        )
        stage = await stack.enter_async_context(opened())
        stage.gate.connect(url, "add", "fail", "count")
        yield stage


@pytest.mark.parametrize("mode", ERAS)
async def test_lists_and_calls(stage: Stage, mode: str) -> None:
    async with stage.client(mode) as client:
        listed = await client.list_tools()
        result = await client.call_tool("tools_add", {"a": 2, "b": 3})

    assert [tool.name for tool in listed.tools] == [
        "tools_add",
        "tools_fail",
        "tools_count",
    ]
    assert result.content[0].text == "5"  # type: ignore[union-attr]
    assert not result.is_error
    assert [each.outcome for each in stage.gate.ended] == [Outcome.OK]
    assert stage.gate.calls[0].arguments == b'{"a":2,"b":3}'


@pytest.mark.parametrize("stage", ["stateless"], indirect=True)
@pytest.mark.parametrize("mode", ERAS)
async def test_one_connector_has_its_own_names(stage: Stage, mode: str) -> None:
    (connector_id,) = stage.gate.upstreams

    async with stage.client(mode, connector_id) as client:
        listed = await client.list_tools()
        result = await client.call_tool("add", {"a": 2, "b": 3})

    assert [tool.name for tool in listed.tools] == ["add", "fail", "count"]
    assert result.content[0].text == "5"  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", ERAS)
async def test_tool_errors_are_results(stage: Stage, mode: str) -> None:
    async with stage.client(mode) as client:
        result = await client.call_tool("tools_fail", {})

    assert result.is_error
    assert [each.outcome for each in stage.gate.ended] == [Outcome.TOOL_ERROR]


@pytest.mark.parametrize("server", ["stateless", "sessions", "sessionless"])
@pytest.mark.parametrize("mode", ERAS)
async def test_progress_arrives(server: str, mode: str) -> None:
    seen: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async with serving(tools(), **SERVERS[server]) as url, opened() as stage:
        stage.gate.connect(url, "count")
        async with stage.client(mode) as client:
            result = await client.call_tool(
                "tools_count", {"to": 3}, progress_callback=note
            )

    assert result.content[0].text == "counted to 3"  # type: ignore[union-attr]
    assert seen == [(1, 3, "1"), (2, 3, "2"), (3, 3, "3")]
