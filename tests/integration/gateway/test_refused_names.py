"""Which names of tools stand in the record of a refused call."""

from typing import Any

from service.gateway.endpoint.catalog import ToolCatalog
from tests.integration.gateway.world import ALLOW, DENY, TOOLS, World, tool

NUL = "a\u0000b"


async def calls(world: World) -> list[Any]:
    return [
        (each["tool"], each["connector_id"], each["reason"])
        for each in (await world.read("/api/mcp/calls"))["calls"]
    ]


async def test_a_name_that_is_unacceptable_is_not_recorded(world: World) -> None:
    await world.rule(any=ALLOW)
    await world.lists(*TOOLS, tool(NUL))
    caller = await world.caller()

    await world.gate.refused_unlisted(caller, None, f"tracker_{NUL}")
    await world.gate.refused_unlisted(caller, world.connector_id, NUL)
    await world.call(NUL)
    await world.ada.delete(world.grant)
    await world.call(NUL)

    events = [each.event for each in await world.recorded("tool_call.refused")]
    assert {each.tool for each in events} == {None}
    assert sum(each.times for each in events) == 4
    assert {tool for tool, _, _ in await calls(world)} == {None}


async def test_a_recorded_name_with_nul_is_listed_without_it(world: World) -> None:
    await world.was_refused(NUL, "unknown_tool")

    assert await calls(world) == [(None, str(world.connector_id), "unknown_tool")]


async def test_a_tool_is_recorded_by_the_alias_that_its_agent_has(
    world: World,
) -> None:
    long = "x" * 100
    await world.lists(*TOOLS, tool(long))
    await world.rule(any=ALLOW, **{long: ALLOW})
    caller = await world.caller()
    listed = ToolCatalog().tools(caller, None, await world.gate.tools(caller))
    aliases = {
        each.listed.definition.name: alias for alias, each in listed.by_name.items()
    }
    assert aliases["issues.list"] != "tracker_issues.list"
    await world.rule(any=DENY)

    for name in ("issues.list", long):
        await world.gate.refused_unlisted(caller, None, aliases[name])
    await world.gate.refused_unlisted(caller, None, "tracker_issues_list_00000000")

    connector = str(world.connector_id)
    assert sorted(await calls(world), key=str) == [
        ("issues.list", connector, "denied"),
        (long, connector, "denied"),
        (None, None, "unknown_tool"),
    ]
