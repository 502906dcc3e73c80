"""Which names of tools stand in the record of a refused call."""

from datetime import UTC, datetime
from typing import Any

from service.event_log.execute import execute
from service.event_log.unit_of_work import UnitOfWork
from service.gateway.calls.aggregate import ToolCallRefusal
from service.gateway.endpoint.catalog import ToolCatalog
from tests.integration.gateway.world import ALLOW, DENY, TOOLS, World, tool

NUL = "a\u0000b"


async def calls(world: World) -> list[Any]:
    await world.gate.recorder.flush(all_of_them=True)
    head = (await world.resources.log.head()).position
    reply = await world.ada.get("/api/mcp/calls", X_Min_Position=str(head))
    assert reply.status == 200, reply.data
    return [
        (each["tool"], each["connector_id"], each["reason"])
        for each in reply.data["calls"]
    ]


async def test_a_name_that_is_unacceptable_is_not_recorded(world: World) -> None:
    await world.rule(any=ALLOW)
    await world.lists(*TOOLS, tool(NUL))
    caller = await world.caller()

    await world.gate.refused_unlisted(caller, None, f"tracker_{NUL}")
    await world.gate.refused_unlisted(caller, world.connector_id, NUL)
    await world.call(NUL)
    await world.ada.delete(f"{world.connector}/grants/agents/{world.agent_id}")
    await world.call(NUL)

    events = [each.event for each in await world.recorded("tool_call.refused")]
    assert {each.tool for each in events} == {None}
    assert sum(each.times for each in events) == 4
    assert {tool for tool, _, _ in await calls(world)} == {None}


async def test_a_recorded_name_with_nul_is_listed_without_it(world: World) -> None:
    # As versions before recorded it.
    async def refuse(work: UnitOfWork) -> None:
        work.save(
            ToolCallRefusal(
                agent_id=str(world.agent_id),
                token_id=str(world.token_id),
                user_id=None,
                connector_id=str(world.connector_id),
                tool=NUL,
                reason="unknown_tool",
                times=1,
                session_id=None,
                trace_id=None,
            )
        )

    log = world.resources.log
    await execute(log, refuse, metadata={"actor": "system"}, at=datetime.now(UTC))

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
