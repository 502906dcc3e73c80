"""The world of the gateway's tests."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from aiohttp.test_utils import TestClient

from service.gateway.gate import GATE
from service.gateway.tool_gate import ToolGate
from service.resources import Resources
from tests.integration.gateway.patterns import TOOLS as NAMED_TOOLS
from tests.integration.gateway.plain_upstream import PlainUpstream, plain_upstream
from tests.integration.gateway.world import TOOLS, TRACKER, World
from tests.support.callers import Callers


@pytest.fixture
async def upstream() -> AsyncIterator[PlainUpstream]:
    async with plain_upstream() as upstream:
        yield upstream


@pytest.fixture
async def world(callers: Callers, client: TestClient, resources: Resources) -> World:
    ada = await callers.user("ada")
    agent_id = UUID(
        (await ada.post("/api/catalog/agents", {"name": "Triage"})).data["id"]
    )
    connector_id = UUID((await ada.post("/api/mcp/connectors", TRACKER)).data["id"])
    await ada.put(f"/api/mcp/connectors/{connector_id}/grants/agents/{agent_id}")
    token = await ada.post(f"/api/mcp/agents/{agent_id}/tokens", {"label": "test"})
    gate = client.app[GATE]
    assert isinstance(gate, ToolGate)
    world = World(
        client=client,
        resources=resources,
        gate=gate,
        ada=ada,
        agent_id=agent_id,
        connector_id=connector_id,
        token=token.data["token"],
        token_id=UUID(token.data["id"]),
    )
    await world.lists(*TOOLS)
    return world


@pytest.fixture
async def tracker(world: World) -> World:
    """A connector with the slug ``issue-tracker`` and four tools."""
    await world.record_mode("strict", slug="issue-tracker")
    await world.lists(*NAMED_TOOLS)
    for each in NAMED_TOOLS:
        await world.accept(each["name"])
    return world
