"""Which names of tools stand in the record of a refused call."""

from typing import Any

import pytest

from service.call_recording.recorder import CallRecorder
from service.call_recording.refusals import REFUSED_NAMES_MAX
from service.gateway.calls.recorder import ToolCallEvents, ToolCallRecorder
from service.gateway.endpoint.catalog import ToolCatalog
from service.gateway.refused_calls import CallRefusals
from tests.integration.gateway.world import ALLOW, DENY, TOOLS, World, tool

NUL = "a\u0000b"


async def calls(world: World) -> list[Any]:
    return [
        (each["tool"], each["connector_id"], each["reason"])
        for each in (await world.read("/api/mcp/calls"))["calls"]
    ]


async def asked_for(world: World) -> list[Any]:
    shown = (await world.read("/api/mcp/calls"))["calls"]
    return [(each["tool"], each["asked_for"], each["times"]) for each in shown]


@pytest.mark.parametrize(
    "name", ["tracker_no.such/tool-1:x", "a", "x" * 128, "tracker_issues_list_00000000"]
)
async def test_a_name_that_is_asked_for_is_recorded(world: World, name: str) -> None:
    caller = await world.caller()

    await world.gate.refused_unlisted(caller, None, name)
    await world.gate.refused_unlisted(caller, None, name)

    assert sorted(times for _, _, times in await asked_for(world)) in ([1, 1], [2])
    assert {each[:2] for each in await asked_for(world)} == {(None, name)}
    assert repr(name) in await sentence(world)


@pytest.mark.parametrize(
    "name",
    ["", "x" * 129, "a b", "a\nb", "na\u00efve", "a\u202eb", NUL, None, 7, ["a"], {}],
)
async def test_what_no_tool_could_be_named_is_not_recorded(
    world: World, name: object
) -> None:
    await world.gate.refused_unlisted(await world.caller(), None, name)

    assert await asked_for(world) == [(None, None, 1)]
    assert "was refused an unknown tool as agent" in await sentence(world)


async def test_a_flood_of_names_is_few_events(world: World) -> None:
    caller, log = await world.caller(), world.resources.log
    recorder: ToolCallRecorder = CallRecorder(log, ToolCallEvents(), clock=lambda: 0.0)
    refusals = CallRefusals(log, recorder)
    for number in range(3 * REFUSED_NAMES_MAX):
        name, trace_id = f"probe_{number}", f"{number:032x}"
        await refusals.refused_unlisted(caller, None, name, "s", trace_id)
    await recorder.flush()

    events = [each.event for each in await world.recorded("tool_call.refused")]

    assert sorted((each.asked_for or "", each.times) for each in events) == sorted(
        [
            ("", 2 * REFUSED_NAMES_MAX),
            *((f"probe_{number}", 1) for number in range(REFUSED_NAMES_MAX)),
        ]
    )


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
    listed = ToolCatalog().tools(await world.gate.tools(caller), aliased=True)
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


async def test_a_denied_tool_is_recorded_as_itself(world: World) -> None:
    await world.rule(any=DENY)

    await world.gate.refused_unlisted(
        await world.caller(), None, world.alias("issues.list")
    )

    assert await asked_for(world) == [("issues.list", None, 1)]


async def sentence(world: World) -> str:
    (recorded, *_) = await world.recorded("tool_call.refused")
    return str(recorded.event.sentence(str))
