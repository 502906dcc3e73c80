"""Calls by the gateway's own tool, in the whole service: decided as all are."""

from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from service.config import Config
from service.gateway.endpoint.tool_search import UNKNOWN_NAME
from tests.integration.gateway.sdk_server import serving, tools
from tests.integration.gateway.stage import official_client
from tests.integration.gateway.test_end_to_end import observe_as_served, text
from tests.integration.gateway.world import World, tool
from tests.support.configured import calling_loopback


@pytest.fixture
def config() -> Config:
    return calling_loopback()


@pytest.fixture
async def ready(world: World) -> AsyncIterator[World]:
    """The agent searches its tools, which are those of a real server."""
    async with serving(tools()) as url:
        await world.moves(url)
        await observe_as_served(world)
        reply = await world.ada.put(f"{world.agent}/gateway", {"tools_listed_max": 1})
        assert reply.status == 200, reply.data
        yield world


def names(found: Any) -> list[str]:
    return sorted(each["name"] for each in orjson.loads(text(found))["tools"])


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_rules_decide_and_the_real_tool_is_recorded(
    ready: World, mode: str
) -> None:
    await ready.rule(add="allow", fail="deny", count="ask")
    path = f"/mcp/agents/{ready.agent_id}"
    add, fail, count = (f"tracker_{each}" for each in ("add", "fail", "count"))

    async with official_client(ready.client, path, ready.token, mode) as client:
        listed = [each.name for each in (await client.list_tools()).tools]
        found = await client.call_tool("find-tools", {"query": "tracker"})

        async def call(name: str, **arguments: Any) -> Any:
            return await client.call_tool(
                "call-tool", {"name": name, "arguments": arguments}
            )

        allowed = await call(add, a=2, b=3)
        denied = await call(fail)
        pending = await call(count, to=1)
        (requested,) = await ready.recorded("approvals.requested")
        approval = f"{ready.agent}/approvals/{requested.event.approval_id}"
        shown = await ready.ada.get(approval)
        await ready.ada.post(f"{approval}/approve", {"reason": "once"})
        again = await call(count, to=1)
        asked_again = await call(count, to=1)

    assert listed == ["find-tools", "call-tool"]
    assert names(found) == [add, count]
    assert (text(allowed), text(again)) == ("5", "counted to 1")
    assert (denied.is_error, text(denied)) == (True, UNKNOWN_NAME)
    assert pending.is_error
    assert asked_again.is_error
    assert (shown.data["tool"], shown.data["arguments"]) == ("count", {"to": 1})
    calls = (await ready.read("/api/mcp/calls"))["calls"]
    assert {(each["tool"], each["decision"], each["reason"]) for each in calls} == {
        ("add", "admitted", None),
        ("count", "admitted", None),
        ("fail", "refused", "denied"),
    }
    (added,) = (each for each in calls if each["tool"] == "add")
    explained = await ready.read(f"/api/mcp/calls/{added['id']}")
    assert (explained["tool"], explained["connector_id"]) == (
        "add",
        str(ready.connector_id),
    )


async def test_a_definition_that_changed_is_not_found(world: World) -> None:
    await world.rule(any="allow")
    await world.ada.put(f"{world.agent}/gateway", {"tools_listed_max": 0})
    path = f"/mcp/agents/{world.agent_id}"

    async with official_client(world.client, path, world.token, "legacy") as client:
        before = await client.call_tool("find-tools", {"query": "issues"})
        await world.lists(
            tool("issues.create"),
            tool("issues.list", description="Another one."),
            tool("issues.delete"),
        )
        after = await client.call_tool("find-tools", {"query": "issues"})

    aliases = [world.alias(f"issues.{each}") for each in ("create", "delete", "list")]
    assert names(before) == sorted(aliases)
    assert names(after) == sorted(aliases[:2])


async def test_a_preview_is_of_the_tools_themselves(world: World) -> None:
    await world.rule(any="allow")
    rules = world.rules(issues_list="deny")
    before = await world.ada.post(f"{world.agent}/tools/preview", rules)

    await world.ada.put(f"{world.agent}/gateway", {"tools_listed_max": 0})
    after = await world.ada.post(f"{world.agent}/tools/preview", rules)

    assert before.status == 200
    assert after.data | {"recorded": {}} == before.data | {"recorded": {}}
    assert (await world.explained("issues.list"))["stance"] == "allow"
