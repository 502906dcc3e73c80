"""Previews of routing: what would change, and nothing does."""

from typing import Any
from uuid import UUID, uuid4

from service.resources import Resources
from tests.integration.model_gateway.conftest import Runtime
from tests.support.callers import Caller, Callers
from tests.support.model_gateway.asking import (
    grant_path,
    new_preset,
    path,
    put_tiers,
    routed,
    routing_body,
    to_preset,
    to_tier,
)
from tests.support.tool_rules.setting import Setting

NOWHERE = {"preset_id": None, "tier": None, "problem": "no_route"}


def to(
    preset_id: str | None, tier: str | None = None, problem: str | None = None
) -> dict[str, Any]:
    return {"preset_id": preset_id, "tier": tier, "problem": problem}


async def test_a_preview_of_a_routing_shows_names_and_calls_that_would_lead_elsewhere(
    ada: Caller,
    owner: Caller,
    root: Caller,
    agent: UUID,
    connection: str,
    preset: str,
    runtime: Runtime,
    resources: Resources,
) -> None:
    other = await new_preset(owner, connection, visibility="public")
    await put_tiers(root, {"fast": other})
    before = await routed(
        ada,
        agent,
        to_preset("gone", preset),
        to_preset("stays", preset),
        to_preset("claude-*", preset),
    )
    await runtime.calls("claude-1", "claude-1", "claude-2", "stays", "elsewhere")
    await runtime.calls("claude-1", "gone")
    head = (await resources.log.head()).position
    body = routing_body(
        to_preset("stays", preset),
        to_preset("claude-2", preset),
        to_tier("claude-*", "fast"),
        to_preset("new", other),
    )

    reply = await ada.post(f"{path(agent)}/preview", body)

    assert reply.status == 200
    assert reply.message == "preview of the routing; nothing was changed"
    assert reply.data["agent_id"] == str(agent)
    assert reply.data["version"] == before.data["version"] == 2
    assert reply.headers["ETag"] == '"2"'
    # In the order of the routes before, then after.
    assert reply.data["names"] == [
        {"model": "gone", "before": to(preset), "after": NOWHERE},
        {"model": "new", "before": NOWHERE, "after": to(other)},
    ]
    recorded = reply.data["recorded"]
    assert (recorded["calls"], recorded["changed"]) == (7, 4)
    assert recorded["is_complete"] is True
    assert all(each.pop("last_at") for each in recorded["examples"])
    assert recorded["examples"] == [
        {
            "model": "claude-1",
            "calls": 3,
            "before": to(preset),
            "after": to(other, "fast"),
        },
        {"model": "gone", "calls": 1, "before": to(preset), "after": NOWHERE},
    ]
    assert (await resources.log.head()).position == head
    read = await ada.get(path(agent))
    assert read.data["routes"] == before.data["routes"]


async def test_only_calls_of_the_days_asked_for_and_of_the_agent_count(
    ada: Caller,
    agent: UUID,
    preset: str,
    runtime: Runtime,
    callers: Callers,
    setting: Setting,
    resources: Resources,
) -> None:
    second = await setting.agent(ada)
    foreign = Runtime(await callers.user("r2", "runtime"), second, resources)
    await runtime.calls("new")
    await runtime.calls("older", "older", days_ago=8)
    await runtime.calls("oldest", days_ago=100)
    await foreign.calls("new", "new")
    body = routing_body(to_preset("*", preset))

    async def counted(query: str = "") -> tuple[int, list[tuple[str, int]]]:
        reply = await ada.post(f"{path(agent)}/preview{query}", body)
        recorded = reply.data["recorded"]
        found = [(each["model"], each["calls"]) for each in recorded["examples"]]
        assert recorded["changed"] == recorded["calls"]
        return recorded["calls"], found

    assert await counted() == (1, [("new", 1)])
    assert await counted("?days=7") == (1, [("new", 1)])
    assert await counted("?days=30") == (3, [("older", 2), ("new", 1)])
    for query in ("?days=0", "?days=91", "?days=x"):
        refused = await ada.post(f"{path(agent)}/preview{query}", body)
        assert refused.status == 400


async def test_a_preview_of_the_first_routing_is_based_on_version_0(
    ada: Caller, agent: UUID, preset: str
) -> None:
    body = routing_body(to_preset("a", preset), to_tier("b", "t"), tiers={"t": preset})

    reply = await ada.post(f"{path(agent)}/preview", body, If_Match='"0"')

    assert (reply.data["version"], reply.headers["ETag"]) == (0, '"0"')
    assert reply.data["names"] == [
        {"model": "a", "before": NOWHERE, "after": to(preset)},
        {"model": "b", "before": NOWHERE, "after": to(preset, "t")},
    ]
    assert reply.data["recorded"]["calls"] == 0
    assert reply.data["recorded"]["examples"] == []


async def test_a_preview_of_a_routing_is_refused_as_the_replacement_would_be(
    callers: Callers, ada: Caller, owner: Caller, agent: UUID, preset: str
) -> None:
    auditor = await callers.user("auditor", "auditor")
    bodies = [
        routing_body(to_preset("a", preset)),
        routing_body(to_preset("a", str(uuid4()))),
        routing_body(to_tier("a", "fast")),
        routing_body(),
    ]
    statuses = []

    for caller in (ada, auditor, owner):
        for body in bodies:
            preview = await caller.post(f"{path(agent)}/preview", body)
            replaced = await caller.put(path(agent), body)
            assert preview.status == replaced.status
            if replaced.status != 200:
                assert preview.data == {
                    **replaced.data,
                    "request_id": preview.data["request_id"],
                }
            statuses.append(replaced.status)
    assert statuses == [200, 422, 422, 200, *[403] * 4, *[404] * 4]


async def test_a_revoked_preset_can_not_be_kept_in_a_replacement(
    ada: Caller, owner: Caller, agent: UUID, preset: str
) -> None:
    await routed(ada, agent, to_preset("a", preset))
    await owner.delete(grant_path(preset, agent))
    body = routing_body(to_preset("a", preset))

    preview = await ada.post(f"{path(agent)}/preview", body)
    without = await ada.post(f"{path(agent)}/preview", routing_body())

    assert (preview.status, preview.code) == (422, "unknown_preset")
    assert without.data["names"] == [
        {
            "model": "a",
            "before": to(preset, problem="preset_unavailable"),
            "after": NOWHERE,
        }
    ]


async def test_a_preview_of_a_routing_shows_routes_and_what_can_not_be_called(
    ada: Caller, owner: Caller, root: Caller, agent: UUID, connection: str, preset: str
) -> None:
    private = await new_preset(owner, connection)
    await put_tiers(root, {"priv": private})
    kept, moved = to_preset("a", preset), to_preset("b", preset)
    await routed(ada, agent, kept, moved, to_preset("gone", preset))
    by_tier = to_tier("gpt-*", "priv")
    body = routing_body(moved, kept, by_tier)

    preview = await ada.post(f"{path(agent)}/preview", body)
    replaced = await ada.put(path(agent), body)

    assert preview.data["added"] == [by_tier]
    assert preview.data["removed"] == [to_preset("gone", preset)]
    assert preview.data["reordered"] is True
    problem = {"model": "gpt-*", "problem": "preset_unavailable"}
    assert preview.data["problems"] == replaced.data["problems"] == [problem]
