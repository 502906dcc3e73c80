"""Rules are tried on the tools that were observed, and on calls of the past."""

from tests.integration.gateway.world import ALLOW, ASK, DENY, TOOLS, World, tool


async def test_recorded_calls_that_would_be_decided_otherwise(world: World) -> None:
    await world.rule(issues_any=ALLOW, issues_delete=DENY)
    for name in ("issues.list", "issues.list", "issues.create", "issues.delete"):
        await world.call(name)
    await world.call("no such tool")
    await world.read("/api/mcp/calls")
    wanted = world.rules(issues_list="ask", issues_delete=DENY)

    reply = await world.ada.post(f"{world.agent}/tools/preview", wanted)

    recorded = reply.data["recorded"]
    assert (recorded["calls"], recorded["changed"]) == (4, 3)
    assert recorded["is_complete"]
    shown = [
        (each["tool"], each["decided"], each["would_be"], each["calls"])
        for each in recorded["examples"]
    ]
    assert shown == [
        ("issues.list", "allow", "ask", 2),
        ("issues.create", "allow", "deny", 1),
    ]
    (connector,) = reply.data["connectors"]
    changed = {each["tool"] for each in connector["tools"]}
    assert {"issues.list", "issues.create"} <= changed
    assert (await world.ada.get(f"{world.agent}/tools")).data["version"] == 2


async def test_a_preview_looks_back_so_many_days(world: World) -> None:
    for days, status in ((1, 200), (90, 200), (0, 400), (91, 400)):
        path = f"{world.agent}/tools/preview?days={days}"
        reply = await world.ada.post(path, world.rules(any=ALLOW))
        assert reply.status == status


async def previewed(world: World, **stances: str) -> dict[str, tuple[str, str]]:
    """Return the decisions that would change, by tool: before and after."""
    path = f"{world.agent}/tools/preview"
    reply = await world.ada.post(path, world.rules(**stances))
    assert reply.status == 200, reply.data
    return {
        each["tool"]: (each["before"], each["after"])
        for connector in reply.data["connectors"]
        for each in connector["tools"]
    }


async def test_decisions_are_those_of_calls_with_the_definitions_of_now(
    world: World,
) -> None:
    _, listing, deleting = TOOLS
    await world.lists(
        listing, {**deleting, "description": "other"}, tool("issues.move"), tool("zip")
    )

    # The changed tool is denied, and the one that is gone, whatever the rules say.
    assert await previewed(world, any=ALLOW) == {
        "issues.list": (DENY, ALLOW),
        "issues.move": (DENY, ASK),
        "zip": (DENY, ASK),
    }
    # By its exact name, a new tool is meant.
    assert await previewed(world, issues_move=ALLOW, issues_delete=ALLOW) == {
        "issues.move": (DENY, ALLOW)
    }

    for stances in ({"any": ALLOW}, {"issues_move": ALLOW, "issues_any": ASK}):
        expected = await previewed(world, **stances)
        await world.rule(**stances)
        for name in ("issues.list", "issues.delete", "issues.move", "zip"):
            after = expected.get(name, (DENY, DENY))[1]
            explained = await world.explained(name)
            assert explained["stance"] == after, (name, explained)
        await world.rule()


async def test_recorded_calls_of_a_changed_tool_would_be_denied(world: World) -> None:
    await world.rule(any=ALLOW)
    await world.call("issues.delete")
    creating, listing, deleting = TOOLS
    await world.lists(creating, listing, {**deleting, "description": "other"})
    await world.call("issues.delete")

    async def recorded() -> list[tuple[str, str, int]]:
        await world.read("/api/mcp/calls")
        path = f"{world.agent}/tools/preview"
        reply = await world.ada.post(path, world.rules(any=ALLOW))
        assert reply.data["recorded"]["calls"] == 2
        return [
            (each["decided"], each["would_be"], each["calls"])
            for each in reply.data["recorded"]["examples"]
        ]

    assert await recorded() == [(ALLOW, DENY, 1)]
    await world.accept("issues.delete")
    assert await recorded() == [(DENY, ALLOW, 1)]
