"""Previews of presets: what would change, and whom it concerns."""

from uuid import UUID, uuid4

from service.resources import Resources
from tests.support.callers import Caller
from tests.support.model_gateway.asking import (
    PRESETS,
    TIERS,
    caught_up,
    grant_path,
    new_preset,
    preset_body,
    put_tiers,
    routed,
    to_preset,
    to_tier,
)
from tests.support.model_gateway.operations import target
from tests.support.tool_rules.setting import Setting


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
