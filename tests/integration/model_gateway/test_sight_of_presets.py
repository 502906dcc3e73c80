"""Who sees which presets, and their grants."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from service.resources import Resources
from tests.support.callers import Caller, Callers
from tests.support.model_gateway.asking import (
    PRESETS,
    caught_up,
    grant_path,
    granted,
    new_connection,
    new_preset,
    preset_body,
)
from tests.support.model_gateway.operations import target
from tests.support.tool_rules.setting import Setting


class World:
    """Presets by name, of ``owner`` but for ``own``, which is ada's."""

    def __init__(self, owner: Caller, ada: Caller, agent: UUID, other: UUID) -> None:
        self.owner = owner
        self.ada = ada
        self.agent = agent
        self.other = other
        self.ids: dict[str, str] = {}

    async def make(self, name: str, of: Caller, **other: Any) -> None:
        connection = await new_connection(of)
        self.ids[name] = await new_preset(of, connection, name=name, **other)

    def path(self, name: str) -> str:
        return f"{PRESETS}/{self.ids[name]}"


@pytest.fixture
async def world(
    owner: Caller, ada: Caller, agent: UUID, setting: Setting, resources: Resources
) -> World:
    """``granted`` is granted to ada's agent, ``elsewhere`` to one of the owner."""
    world = World(owner, ada, agent, await setting.agent(owner))
    await world.make("private", owner)
    await world.make("granted", owner)
    await world.make("elsewhere", owner)
    await world.make("public", owner, visibility="public")
    await world.make("retired", owner, visibility="public")
    await world.make("own", ada)
    await granted(owner, world.ids["granted"], agent)
    await granted(owner, world.ids["retired"], agent)
    await granted(owner, world.ids["elsewhere"], world.other)
    await owner.delete(world.path("retired"))
    await caught_up(resources)
    return world


async def names(caller: Caller, query: str = "") -> set[str]:
    listed = (await caller.get(f"{PRESETS}{query}")).data["presets"]
    return {each["name"] for each in listed}


async def seen(world: World, caller: Caller) -> set[str]:
    """Return the names of the presets that a caller can get."""
    replies = {name: await caller.get(world.path(name)) for name in world.ids}
    assert {each.status for each in replies.values()} <= {200, 404}
    return {name for name, each in replies.items() if each.status == 200}


async def test_a_list_holds_what_the_caller_can_get(
    callers: Callers, world: World, stranger: Caller
) -> None:
    of_owner = {"private", "granted", "elsewhere", "public"}
    expected = [
        (world.owner, of_owner),
        (world.ada, {"granted", "public", "own"}),
        (stranger, {"public"}),
        (await callers.user("runtime", "runtime"), {"public"}),
        (await callers.user("olaf", "superuser"), {*of_owner, "own"}),
        (await callers.user("auditor", "auditor"), {*of_owner, "own"}),
    ]

    for caller, there in expected:
        assert await names(caller) == there
        assert await seen(world, caller) == there


async def test_a_list_is_narrowed_to_what_an_agent_may_call(
    callers: Callers, world: World, stranger: Caller
) -> None:
    auditor = await callers.user("auditor", "auditor")
    of_agent, of_other = f"?agent_id={world.agent}", f"?agent_id={world.other}"

    for caller in (world.owner, world.ada, auditor):
        assert await names(caller, of_agent) == {"granted", "public"}
    assert await names(stranger, of_agent) == {"public"}
    assert await names(world.owner, of_other) == {"elsewhere", "public"}
    assert await names(world.ada, of_other) == {"public"}
    assert await names(auditor, f"?agent_id={uuid4()}") == {"public"}


async def test_a_preset_granted_to_two_agents_is_listed_once(
    world: World, setting: Setting, resources: Resources
) -> None:
    second = await setting.agent(world.ada)
    await granted(world.owner, world.ids["granted"], second)
    await granted(world.owner, world.ids["public"], second)
    await caught_up(resources)

    listed = (await world.ada.get(PRESETS)).data["presets"]

    assert sorted(each["name"] for each in listed) == ["granted", "own", "public"]


async def test_readers_of_an_agent_see_what_is_granted_to_it(
    world: World, stranger: Caller, resources: Resources
) -> None:
    reader = f"/api/catalog/agents/{world.agent}/readers/{stranger.user_id}"
    await world.ada.put(reader)
    await caught_up(resources)
    assert await names(stranger) == await seen(world, stranger) == {"granted", "public"}

    await world.ada.delete(reader)
    await caught_up(resources)
    assert await names(stranger) == await seen(world, stranger) == {"public"}


async def test_a_revoked_grant_hides_the_preset_from_the_agents_manager(
    world: World, resources: Resources
) -> None:
    lent = (await resources.log.head()).position
    await world.owner.delete(grant_path(world.ids["granted"], world.agent))
    await caught_up(resources)

    assert await names(world.ada) == {"public", "own"}
    assert await seen(world, world.ada) == {"public", "own"}
    # Present rights decide, also about the past.
    path = f"{world.path('granted')}?at={lent}"
    assert (await world.ada.get(path)).status == 404
    assert (await world.owner.get(path)).data["granted_to"] == [str(world.agent)]


async def test_a_preset_made_private_is_hidden_again(
    world: World, stranger: Caller, resources: Resources
) -> None:
    read = (await world.owner.get(world.path("public"))).data
    connection = read["groups"][0]["targets"][0]["connection_id"]
    await world.owner.put(world.path("public"), preset_body([target(connection)]))
    await caught_up(resources)

    assert await names(stranger) == set()
    assert await seen(world, stranger) == set()


async def test_grants_are_shown_to_owner_superusers_and_auditors(
    callers: Callers, world: World
) -> None:
    shown = [str(world.agent)]
    path = world.path("granted")

    for caller, expected in (
        (world.owner, shown),
        (await callers.user("olaf", "superuser"), shown),
        (await callers.user("auditor", "auditor"), shown),
        (world.ada, None),
    ):
        assert (await caller.get(path)).data["granted_to"] == expected


async def test_a_stranger_gets_no_hint(world: World, stranger: Caller) -> None:
    connection = await new_connection(stranger)
    body = preset_body([target(connection)])

    async def answers(preset: str) -> list[tuple[int, str, Any]]:
        path, headers = f"{PRESETS}/{preset}", {"If_Match": '"9"'}
        replies = [
            await stranger.get(path),
            await stranger.get(f"{path}?at=1"),
            await stranger.put(path, body, **headers),
            await stranger.delete(path, **headers),
            await stranger.post(f"{path}/preview", body, **headers),
            await stranger.post(f"{path}/restore", {"at": 1}, **headers),
            await stranger.post(f"{path}/restore", {"at": "2999-01-01"}, **headers),
            await stranger.put(grant_path(preset, world.agent), **headers),
            await stranger.delete(grant_path(preset, world.agent), **headers),
        ]
        return [(each.status, each.message, each.data["code"]) for each in replies]

    hidden = await answers(world.ids["granted"])

    assert {status for status, _, _ in hidden} == {404}
    assert hidden == await answers(str(uuid4()))


async def test_lists_come_in_pages_each_preset_once(
    owner: Caller, connection: str, stranger: Caller, resources: Resources
) -> None:
    made = [await new_preset(owner, connection) for _ in range(5)]
    await new_preset(stranger, await new_connection(stranger))
    await caught_up(resources)

    found: list[dict[str, Any]] = []
    sizes, cursor = [], ""
    while True:
        page = (await owner.get(f"{PRESETS}?limit=2{cursor}")).data
        found += page["presets"]
        sizes.append(len(page["presets"]))
        if page["end_cursor"] is None:
            break
        cursor = f"&after={page['end_cursor']}"

    assert sizes == [2, 2, 1]
    assert [each["id"] for each in found] == sorted(made)
    for each in found:
        read = (await owner.get(f"{PRESETS}/{each['id']}")).data
        assert read == {
            **each,
            "dialects": ["anthropic_messages"],
            "problem": None,
            "granted_to": [],
        }


async def test_a_grant_says_what_it_did(
    owner: Caller, root: Caller, preset: str, agent: UUID, setting: Setting
) -> None:
    other = await setting.agent(root)
    path = grant_path(preset, other)
    steps = [
        (await owner.put(path), "preset granted", "granted", 3),
        (await owner.put(path), "preset was already granted", "granted", 3),
        (await root.delete(path), "grant revoked", "none", 4),
        (await owner.delete(path), "preset wasn't granted", "none", 4),
    ]

    for reply, message, state, version in steps:
        assert (reply.status, reply.message) == (200, message)
        assert reply.data == {
            "preset_id": preset,
            "agent_id": str(other),
            "state": state,
            "version": version,
        }
        assert reply.headers["ETag"] == f'"{version}"'
    recorded = ["X-Event-Position" in reply.headers for reply, *_ in steps]
    assert recorded == [True, False, True, False]
    read = (await owner.get(f"{PRESETS}/{preset}")).data
    assert read["granted_to"] == [str(agent)]
    assert (await root.put(path)).status == 403
    assert (await owner.put(grant_path(preset, uuid4()))).status == 404
    await root.delete(f"/api/catalog/agents/{other}")
    refused = await owner.put(path)
    assert (refused.status, refused.code) == (409, "agent_retired")
