"""Previews of presets and routing: what would change, and nothing does."""

from typing import Any
from uuid import UUID, uuid4

from service.resources import Resources
from tests.integration.model_gateway.conftest import Runtime
from tests.support.callers import Caller, Callers
from tests.support.model_gateway.asking import (
    PRESETS,
    TIERS,
    caught_up,
    grant_path,
    new_preset,
    path,
    preset_body,
    put_tiers,
    routed,
    routing_body,
    to_preset,
    to_tier,
)
from tests.support.model_gateway.operations import target
from tests.support.tool_rules.setting import Setting

NOWHERE = {"preset_id": None, "tier": None, "problem": "no_route"}


def to(
    preset_id: str | None, tier: str | None = None, problem: str | None = None
) -> dict[str, Any]:
    return {"preset_id": preset_id, "tier": tier, "problem": problem}


async def test_a_preview_of_a_preset_names_the_agents_that_are_routed_to_it(
    owner: Caller,
    ada: Caller,
    root: Caller,
    agent: UUID,
    connection: str,
    preset: str,
    setting: Setting,
    resources: Resources,
) -> None:
    public = await new_preset(owner, connection, visibility="public")
    by_tier, by_own, other = [await setting.agent(ada) for _ in range(3)]
    await put_tiers(root, {"fast": public, "slow": preset})
    await routed(
        ada,
        agent,
        to_preset("z", public),
        to_tier("b", "fast"),
        to_preset("a", public),
        to_preset("c", preset),
        to_tier("d", "slow"),
    )
    await routed(ada, by_tier, to_tier("*", "fast"))
    await routed(ada, by_own, to_tier("*", "own"), tiers={"own": public})
    await routed(ada, other, to_tier("*", "slow"), tiers={"fast": public})
    await caught_up(resources)
    head = (await resources.log.head()).position
    body = preset_body([target(connection, "swift-2")], visibility="public")

    reply = await owner.post(f"{PRESETS}/{public}/preview", body, If_Match='"1"')

    assert reply.status == 200
    assert reply.message == "preview of the preset; nothing was changed"
    assert reply.headers["ETag"] == '"1"'
    agents = [
        {"agent_id": str(agent), "models": ["z", "b", "a"], "tiers": ["fast"]},
        {"agent_id": str(by_tier), "models": ["*"], "tiers": ["fast"]},
        {"agent_id": str(by_own), "models": ["*"], "tiers": ["own"]},
    ]
    assert reply.data == {
        "preset_id": public,
        "version": 1,
        "changes": [
            {
                "part": "targets",
                "before": f"swift-1 of {connection} (weight 1, 200000 tokens)",
                "after": f"swift-2 of {connection} (weight 1, 200000 tokens)",
            }
        ],
        "agents": [],
        "other_agents": 3,
        "losing": [],
        "other_losing": 0,
        "is_complete": True,
    }
    assert (await resources.log.head()).position == head
    # Who sees the agents is told which ones they are.
    for each in (agent, by_tier, by_own):
        await ada.put(f"/api/catalog/agents/{each}/readers/{owner.user_id}")
    await caught_up(resources)
    seen = (await owner.post(f"{PRESETS}/{public}/preview", body)).data
    assert seen["agents"] == sorted(agents, key=lambda each: str(each["agent_id"]))
    assert (seen["other_agents"], seen["losing"]) == (0, [])
    read = (await owner.get(f"{PRESETS}/{public}")).data
    assert (read["version"], read["groups"][0]["targets"][0]["model"]) == (1, "swift-1")


async def test_a_preview_of_a_preset_is_refused_as_the_edit_would_be(
    owner: Caller, root: Caller, ada: Caller, connection: str, preset: str
) -> None:
    bodies = [preset_body([target(connection)]), preset_body([target(str(uuid4()))])]
    statuses = []

    for caller in (owner, root, ada):
        for body in bodies:
            preview = await caller.post(f"{PRESETS}/{preset}/preview", body)
            edit = await caller.put(f"{PRESETS}/{preset}", body)
            assert preview.status == edit.status
            if edit.status != 200:
                assert preview.data["code"] == edit.data["code"]
            statuses.append(edit.status)
    assert statuses == [200, 422, 403, 403, 403, 403]


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


async def test_previews_see_what_the_caller_has_just_routed(
    ada: Caller, root: Caller, agent: UUID, connection: str, owner: Caller
) -> None:
    public = await new_preset(owner, connection, visibility="public")
    await put_tiers(root, {"fast": public})
    body = preset_body([target(connection)])

    for number in range(10):
        model = f"m{number}"
        written = await routed(root, agent, to_tier(model, "fast"))
        of_tiers = await root.post(f"{TIERS}/preview", {"tiers": {}})
        of_preset = await owner.post(
            f"{PRESETS}/{public}/preview", body, X_Min_Position=str(written.position)
        )

        assert [each["models"] for each in of_tiers.data["agents"]] == [[model]]
        assert of_preset.data["other_agents"] == 1


async def test_a_preview_says_who_loses_access(
    ada: Caller,
    owner: Caller,
    agent: UUID,
    connection: str,
    setting: Setting,
    resources: Resources,
) -> None:
    public = await new_preset(owner, connection, visibility="public")
    granted_one, seen = await setting.agent(ada), await setting.agent(ada)
    for each in (agent, granted_one, seen):
        await routed(ada, each, to_preset("*", public))
    await owner.put(grant_path(public, granted_one))
    await ada.put(f"/api/catalog/agents/{seen}/readers/{owner.user_id}")
    await caught_up(resources)
    private = preset_body([target(connection)], visibility="private")

    data = (await owner.post(f"{PRESETS}/{public}/preview", private)).data

    assert (data["losing"], data["other_losing"]) == ([str(seen)], 1)
    assert (len(data["agents"]), data["other_agents"]) == (1, 2)


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
