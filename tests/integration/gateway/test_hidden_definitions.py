"""Explanations tell nothing of the tools of a connector that the caller can't see."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from tests.integration.gateway.world import ALLOW, World, tool
from tests.support.callers import Caller, Callers

LISTED, NEVER_LISTED = "issues.delete", "issues.never"


@pytest.fixture
async def eves(world: World, callers: Callers) -> World:
    """Eve's agent, with a rule for a connector that it doesn't hold nor she see."""
    eve = await callers.user("eve")
    agent = await eve.post("/api/catalog/agents", {"name": "Curious"})
    agent_id = UUID(agent.data["id"])
    token = await eve.post(f"/api/mcp/agents/{agent_id}/tokens", {"label": "curious"})
    eves = replace(world, ada=eve, agent_id=agent_id, token=token.data["token"])
    await eves.rule(any=ALLOW)
    assert (await eve.get(f"{world.connector}/definitions")).status == 404
    return eves


async def explained(world: World, by: Caller, named: str, at: int | None = None) -> Any:
    asked = f"?connector_id={world.connector_id}&tool={named}"
    asked += "" if at is None else f"&at={at}"
    found = await world.read(f"{world.agent}/tools/explain{asked}", by)
    assert found["tool"] == found["explained_tool"] == named
    return {**found, "tool": "", "explained_tool": ""}


async def test_who_cannot_see_a_connector_is_told_the_same_of_every_tool(
    world: World, eves: World
) -> None:
    before = (await world.resources.log.head()).position
    await world.lists(tool(LISTED, description="Another one."), tool("issues.new"))

    for at in (None, before):
        of_listed = await explained(eves, eves.ada, LISTED, at)
        alias = world.alias(LISTED)
        assert of_listed == await explained(eves, eves.ada, alias, at)
        assert of_listed == await explained(eves, eves.ada, NEVER_LISTED, at)
        assert of_listed["definition"] is None
        assert of_listed["reason"] == "connector_not_granted"
        assert of_listed["stance_since"] is None


async def test_who_sees_a_connector_is_told_without_a_grant(
    world: World, eves: World, callers: Callers
) -> None:
    auditor = await callers.user("olga", "auditor")
    await world.ada.post(f"{world.connector}/grants/public")

    public = [await explained(eves, each, LISTED) for each in (eves.ada, auditor)]
    await world.ada.delete(f"{world.connector}/grants/public")
    private = [await explained(eves, each, LISTED) for each in (eves.ada, auditor)]

    assert [each["definition"] for each in public] == ["accepted"] * 2
    assert [each["definition"] for each in private] == [None, "accepted"]


async def test_what_an_agent_held_is_told_of_that_time_only(
    world: World, eves: World
) -> None:
    await world.ada.post(f"{world.connector}/grants/public")
    granted = await eves.ada.put(eves.grant)
    assert granted.status == 201
    await world.ada.delete(f"{world.connector}/grants/public")
    held = await explained(eves, eves.ada, LISTED)
    revoked = await world.ada.delete(eves.grant)
    await world.lists(tool("issues.new"))

    now = await explained(eves, eves.ada, LISTED)
    then = await explained(eves, eves.ada, LISTED, at=granted.position)

    assert (held["definition"], then["definition"]) == ("accepted", "accepted")
    assert now["definition"] is None
    assert now["stance_since"]["position"] == revoked.position


async def test_refused_calls_are_recorded_alike_whatever_the_connector_lists(
    world: World, eves: World
) -> None:
    caller = await eves.caller()

    for named in (LISTED, NEVER_LISTED):
        await eves.gate.refused_unlisted(caller, eves.connector_id, named)
        await eves.gate.refused_unlisted(caller, None, world.alias(named))

    calls = (await eves.read("/api/mcp/calls"))["calls"]
    asked = {each["asked_for"] for each in calls}
    assert asked == {
        each for name in (LISTED, NEVER_LISTED) for each in (name, world.alias(name))
    }
    shown = {(each["connector_id"], each["tool"], each["reason"]) for each in calls}
    assert shown == {
        (str(world.connector_id), None, "connector_not_granted"),
        (None, None, "unknown_tool"),
    }
    assert sum(each["times"] for each in calls) == 4


async def test_a_refusal_that_names_a_tool_tells_no_definition(eves: World) -> None:
    await eves.was_refused(LISTED, "connector_not_granted")
    (refused,) = (await eves.read("/api/mcp/calls"))["calls"]

    call = await eves.ada.get(f"/api/mcp/calls/{refused['id']}")

    assert call.data["tool"] == LISTED
    assert call.data["explanation"]["definition"] is None
