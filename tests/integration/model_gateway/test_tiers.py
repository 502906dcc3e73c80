"""The registry of tiers over HTTP."""

from uuid import UUID, uuid4

from service.resources import Resources
from tests.support.callers import Caller, Callers
from tests.support.model_gateway.asking import (
    PRESETS,
    TIERS,
    caught_up,
    new_preset,
    put_tiers,
    routed,
    to_preset,
    to_tier,
)
from tests.support.reading import read_events
from tests.support.tool_rules.setting import Setting


async def test_an_empty_registry_has_version_0(
    root: Caller, stranger: Caller, resources: Resources
) -> None:
    await caught_up(resources)
    head = (await resources.log.head()).position

    read = await stranger.get(TIERS)
    empty = await put_tiers(root, {}, If_Match='"0"')

    assert (read.status, read.message) == (200, "tiers")
    assert read.data == {"version": 0, "position": head, "tiers": {}}
    assert read.headers["ETag"] == '"0"'
    assert (empty.status, empty.message) == (200, "registry already had these tiers")
    assert empty.data == {"version": 0, "tiers": {}, "changes": []}
    assert empty.headers["ETag"] == '"0"'
    assert "X-Event-Position" not in empty.headers


async def test_tiers_are_replaced_and_can_be_read_as_they_were(
    root: Caller, stranger: Caller, owner: Caller, connection: str, preset: str
) -> None:
    other = await new_preset(owner, connection)
    first = await put_tiers(root, {"smart": preset, "fast": preset})
    second = await put_tiers(root, {"fast": other, "new": other}, If_Match='"2"')

    assert (first.status, first.message) == (200, "tiers replaced")
    assert first.data == {
        "version": 2,
        "tiers": {"fast": preset, "smart": preset},
        "changes": [
            {"tier": "fast", "before": None, "after": preset},
            {"tier": "smart", "before": None, "after": preset},
        ],
    }
    assert second.data == {
        "version": 3,
        "tiers": {"fast": other, "new": other},
        "changes": [
            {"tier": "fast", "before": preset, "after": other},
            {"tier": "new", "before": None, "after": other},
            {"tier": "smart", "before": preset, "after": None},
        ],
    }
    assert second.headers["ETag"] == '"3"'
    now = await stranger.get(TIERS, X_Min_Position=str(second.position))
    assert now.data["tiers"] == second.data["tiers"]
    entry = (await root.get(f"/api/audit/events/{first.position}")).data
    time = entry["recorded_at"].replace("+", "%2B")
    for at in (first.position, second.position - 1, time):
        then = await stranger.get(f"{TIERS}?at={at}")
        assert (then.data["version"], then.data["tiers"]) == (2, first.data["tiers"])
        assert then.headers["ETag"] == '"2"'
    # The registry was begun with one event before its first tiers.
    begun = await stranger.get(f"{TIERS}?at={first.position - 1}")
    assert (begun.data["version"], begun.data["tiers"]) == (1, {})
    before = await stranger.get(f"{TIERS}?at={first.position - 2}")
    assert (before.data["version"], before.data["tiers"]) == (0, {})


async def test_superusers_alone_change_tiers(
    callers: Callers, owner: Caller, root: Caller, preset: str
) -> None:
    await put_tiers(root, {"fast": preset})

    for caller in (owner, await callers.user("auditor", "auditor")):
        for refused in (
            await put_tiers(caller, {}, If_Match='"9"'),
            await caller.post(f"{TIERS}/preview", {"tiers": {"fast": str(uuid4())}}),
            await caller.post(f"{TIERS}/restore", {"at": 0}),
        ):
            assert refused.status == 403
    assert (await root.get(TIERS)).data["tiers"] == {"fast": preset}


async def test_unknown_presets_are_named(root: Caller, owner: Caller) -> None:
    tiers = {"b": str(uuid4()), "a": str(uuid4())}

    for refused in (
        await put_tiers(root, tiers),
        await root.post(f"{TIERS}/preview", {"tiers": tiers}),
    ):
        assert (refused.status, refused.code) == (422, "unknown_preset")
        paths = [each["path"] for each in refused.data["errors"]]
        assert sorted(paths) == ["tiers.a", "tiers.b"]


async def test_an_outdated_version_is_refused(root: Caller, preset: str) -> None:
    await put_tiers(root, {"fast": preset})

    for refused in (
        await put_tiers(root, {}, If_Match='"1"'),
        await root.post(f"{TIERS}/preview", {"tiers": {}}, If_Match='"1"'),
        await root.post(f"{TIERS}/restore", {"at": 0}, If_Match='"1"'),
    ):
        assert (refused.status, refused.headers["ETag"]) == (412, '"2"')


async def test_a_repeated_request_is_answered_as_the_first(
    root: Caller, preset: str
) -> None:
    first = await put_tiers(root, {"fast": preset}, Idempotency_Key="a")
    await put_tiers(root, {})

    again = await put_tiers(root, {"fast": preset}, Idempotency_Key="a")

    assert again.body == first.body
    assert (await root.get(TIERS)).data["tiers"] == {}


async def test_a_preview_names_agents_for_which_the_registry_decides(
    root: Caller,
    owner: Caller,
    ada: Caller,
    agent: UUID,
    connection: str,
    preset: str,
    setting: Setting,
    resources: Resources,
) -> None:
    public = await new_preset(owner, connection, visibility="public")
    await put_tiers(root, {"fast": public, "same": public, "gone": public})
    second, of_own = await setting.agent(ada), await setting.agent(ada)
    untouched = await setting.agent(ada)
    await routed(
        ada,
        agent,
        to_tier("z", "fast"),
        to_tier("b", "same"),
        to_tier("a", "fast"),
        to_tier("c", "gone"),
    )
    await routed(ada, second, to_tier("*", "gone"))
    await routed(ada, of_own, to_tier("*", "fast"), tiers={"fast": public})
    await routed(ada, untouched, to_preset("x", public), to_tier("*", "same"))
    await caught_up(resources)
    head = (await resources.log.head()).position

    reply = await root.post(
        f"{TIERS}/preview", {"tiers": {"fast": preset, "same": public}}, If_Match='"2"'
    )

    assert reply.status == 200
    assert reply.message == "preview of the tiers; nothing was changed"
    assert reply.headers["ETag"] == '"2"'
    agents = [
        {
            "agent_id": str(agent),
            "models": ["z", "a", "c"],
            "tiers": ["fast", "gone"],
        },
        {"agent_id": str(second), "models": ["*"], "tiers": ["gone"]},
    ]
    assert reply.data == {
        "version": 2,
        "changes": [
            {"tier": "fast", "before": public, "after": preset},
            {"tier": "gone", "before": public, "after": None},
        ],
        "agents": sorted(agents, key=lambda each: str(each["agent_id"])),
        "is_complete": True,
    }
    assert (await resources.log.head()).position == head
    assert (await root.get(TIERS)).data["version"] == 2


async def test_a_preview_of_the_first_tiers_is_based_on_version_0(
    root: Caller, preset: str
) -> None:
    reply = await root.post(f"{TIERS}/preview", {"tiers": {"fast": preset}})

    assert (reply.data["version"], reply.headers["ETag"]) == (0, '"0"')
    assert reply.data["changes"] == [{"tier": "fast", "before": None, "after": preset}]
    assert reply.data["agents"] == []


async def test_a_restore_is_one_more_event_without_retired_presets(
    root: Caller, owner: Caller, connection: str, preset: str, resources: Resources
) -> None:
    ended = await new_preset(owner, connection)
    good = await put_tiers(root, {"fast": preset, "smart": ended})
    await owner.delete(f"{PRESETS}/{ended}")
    bad = await put_tiers(root, {"new": preset})

    restored = await root.post(f"{TIERS}/restore", {"at": good.position})

    assert (restored.status, restored.message) == (200, "tiers restored")
    assert restored.data == {
        "version": 4,
        "tiers": {"fast": preset},
        "changes": [
            {"tier": "fast", "before": None, "after": preset},
            {"tier": "new", "before": preset, "after": None},
        ],
        "position": good.position,
        "left_out": ["smart"],
    }
    (event,) = await read_events(resources.log, after=bad.position)
    assert event.topic == "model_tiers.replaced"
    again = await root.post(f"{TIERS}/restore", {"at": good.position})
    assert (again.message, again.data["changes"]) == (
        "registry already had these tiers",
        [],
    )
    assert (again.data["left_out"], again.data["version"]) == (["smart"], 4)
    assert "X-Event-Position" not in again.headers
    none = await root.post(f"{TIERS}/restore", {"at": 0})
    assert (none.data["tiers"], none.data["version"]) == ({}, 5)
