"""Rules are tried on the tools that were observed, and on calls of the past."""

from typing import Any

from tests.gateway.world import ALLOW, DENY, World


def rules(world: World, **stances: str) -> dict[str, Any]:
    return {
        "rules": [
            {
                "connector_id": str(world.connector_id),
                "tool_pattern": pattern.replace("any", "*").replace("_", "."),
                "stance": stance,
            }
            for pattern, stance in stances.items()
        ]
    }


async def test_recorded_calls_that_would_be_decided_otherwise(world: World) -> None:
    await world.rule(issues_any=ALLOW, issues_delete=DENY)
    for name in ("issues.list", "issues.list", "issues.create", "issues.delete"):
        await world.call(name)
    await world.call("no such tool")
    await world.gate.recorder.flush(all_of_them=True)
    head = (await world.resources.log.head()).position
    await world.ada.get("/api/mcp/calls", X_Min_Position=str(head))
    wanted = rules(world, issues_list="ask", issues_delete=DENY)

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
        reply = await world.ada.post(path, rules(world, any=ALLOW))
        assert reply.status == status
