"""A stock client, the whole service, and a server of the official SDK."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from service.config import Config
from service.gateway.upstream.client import UpstreamClient
from service.gateway.upstream.connections import open_upstream_connections
from service.gateway.upstream.listing import list_tools
from service.upstream_http.addresses import AddressPolicy
from tests.integration.gateway.sdk_server import serving, tools
from tests.integration.gateway.stage import LOOPBACK, official_client
from tests.integration.gateway.world import World
from tests.support.configured import calling_loopback


@pytest.fixture
def config() -> Config:
    return calling_loopback()


@pytest.fixture
async def ready(world: World) -> AsyncIterator[World]:
    """The world's connector is a real server, whose tools were observed."""
    async with serving(tools()) as url:
        await world.moves(url)
        await observe_as_served(world)
        yield world


async def observe_as_served(world: World) -> None:
    """Observe the server's own definitions."""
    upstream = await world.gate.upstream_to_list(world.connector_id)
    assert upstream is not None
    async with open_upstream_connections(AddressPolicy([LOOPBACK])) as connections:
        listing = await list_tools(UpstreamClient(connections), upstream)
    await world.gate.observed(upstream, listing.definitions)


def text(result: Any) -> str:
    content: str = result.content[0].text
    return content


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_rules_are_what_happens(ready: World, mode: str) -> None:
    await ready.rule(add="allow", fail="deny", count="ask")

    path = f"/mcp/agents/{ready.agent_id}"
    async with official_client(ready.client, path, ready.token, mode) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        prefix = listed[0].removesuffix("add")
        allowed = await client.call_tool(f"{prefix}add", {"a": 2, "b": 3})
        with pytest.raises(MCPError, match="unknown tool"):
            await client.call_tool(f"{prefix}fail", {})
        pending = await client.call_tool(f"{prefix}count", {"to": 1})
        (requested,) = await ready.recorded("approvals.requested")
        approval_id = requested.event.approval_id
        path = f"{ready.agent}/approvals/{approval_id}/approve"
        approved = await ready.ada.post(path, {"reason": "once"})
        again = await client.call_tool(f"{prefix}count", {"to": 1})
        asked_again = await client.call_tool(f"{prefix}count", {"to": 1})

    assert listed == [f"{prefix}add", f"{prefix}count"]
    assert text(allowed) == "5"
    assert pending.is_error
    assert approved.status == 200, approved.data
    assert text(again) == "counted to 1"
    assert asked_again.is_error
    topics = [each.topic for each in await ready.recorded()]
    assert topics.count("tool_call.admitted") == 2
