"""Connectors over HTTP: lists, one of them, and how it was."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from service.resources import Resources
from tests.support.callers import Caller, Callers
from tests.support.rebuilding import tables

CONNECTORS = "/api/mcp/connectors"
SOME_ID = UUID(int=7)


class World:
    """Connectors by name, agents by name, and two users who have to do with them."""

    def __init__(self, owner: Caller, manager: Caller) -> None:
        self.owner = owner
        self.manager = manager
        self.ids: dict[str, str] = {}

    async def connector(self, name: str, of: Caller) -> None:
        body = {"name": name, "url": "https://tracker.example/mcp"}
        self.ids[name] = (await of.post(CONNECTORS, body)).data["id"]

    async def agent(self, name: str, of: Caller) -> None:
        reply = await of.post("/api/catalog/agents", {"name": name})
        self.ids[name] = reply.data["id"]

    def path(self, name: str) -> str:
        return f"{CONNECTORS}/{self.ids[name]}"

    def grant(self, connector: str, agent: str) -> str:
        return f"{self.path(connector)}/grants/agents/{self.ids[agent]}"


@pytest.fixture
async def world(callers: Callers, resources: Resources) -> World:
    world = World(await callers.user("owner"), await callers.user("manager"))
    for name in ("hidden", "offered", "granted", "public"):
        await world.connector(name, world.owner)
    await world.connector("own", world.manager)
    await world.agent("triage", world.manager)
    await world.agent("other", world.owner)
    await world.owner.put(world.grant("offered", "triage"))
    await world.owner.put(world.grant("granted", "triage"))
    await world.manager.put(world.grant("granted", "triage"))
    await world.owner.put(world.grant("granted", "other"))
    await world.owner.post(f"{world.path('public')}/grants/public")
    await tables(resources, "connectors")
    await tables(resources, "agents")
    return world


async def names(caller: Caller, query: str = "") -> set[str]:
    listed = (await caller.get(f"{CONNECTORS}{query}")).data["connectors"]
    return {each["name"] for each in listed}


async def test_a_list_holds_what_the_caller_can_see(
    callers: Callers, world: World
) -> None:
    everything = {"hidden", "offered", "granted", "public", "own"}
    manager = world.manager

    assert await names(manager) == {"offered", "granted", "public", "own"}
    assert await names(manager, "?scope=owned") == {"own"}
    assert await names(manager, "?scope=granted") == {"granted"}
    assert await names(manager, "?scope=offered") == {"offered"}
    assert await names(manager, "?scope=public") == {"public"}
    assert await names(world.owner) == everything - {"own"}
    assert await names(await callers.user("stranger")) == {"public"}
    for role in ("superuser", "auditor"):
        caller = await callers.user(role, role)
        assert await names(caller) == everything
        assert await names(caller, "?scope=owned") == set()


async def test_a_list_is_narrowed_to_an_agent_as_far_as_its_grants_are_seen(
    callers: Callers, world: World
) -> None:
    triage, other = (f"?agent_id={world.ids[name]}" for name in ("triage", "other"))
    auditor = await callers.user("auditor", "auditor")

    assert await names(world.manager, triage) == {"offered", "granted"}
    assert await names(world.manager, f"{triage}&scope=granted") == {"granted"}
    assert await names(auditor, triage) == {"offered", "granted"}
    assert await names(world.owner, triage) == {"offered", "granted"}
    assert await names(world.manager, other) == set()
    assert await names(await callers.user("stranger"), triage) == set()
    assert await names(auditor, f"?agent_id={uuid4()}") == set()


async def test_lists_come_in_pages_each_connector_once(
    callers: Callers, world: World
) -> None:
    found: list[str] = []
    cursor = ""
    while True:
        page = (await world.owner.get(f"{CONNECTORS}?limit=2{cursor}")).data
        found += [each["id"] for each in page["connectors"]]
        if page["end_cursor"] is None:
            break
        cursor = f"&after={page['end_cursor']}"
    assert len(found) == 4
    assert found == sorted(found)


async def test_grants_are_shown_to_those_who_may_see_them(
    callers: Callers, root: Caller, world: World
) -> None:
    def grant(agent: str, state: str, awaiting: str | None) -> dict[str, Any]:
        return {"agent_id": world.ids[agent], "state": state, "awaiting": awaiting}

    for_triage = grant("triage", "granted", None)
    both = sorted(
        [for_triage, grant("other", "granted", None)],
        key=lambda each: str(each["agent_id"]),
    )
    auditor = await callers.user("auditor", "auditor")

    for caller, seen in (
        (world.owner, both),
        (auditor, both),
        (root, both),
        (world.manager, [for_triage]),
    ):
        reply = await caller.get(world.path("granted"))
        assert reply.status == 200
        assert reply.data["grants"] == seen
        assert reply.headers["ETag"] == f'"{reply.data["version"]}"'
    offered = await world.manager.get(world.path("offered"))
    assert offered.data["grants"] == [grant("triage", "offered", "agent")]
    stranger = await callers.user("stranger")
    assert (await stranger.get(world.path("public"))).data["grants"] == []
    assert (await stranger.get(world.path("granted"))).status == 404
    assert (await world.manager.get(world.path("hidden"))).status == 404


async def test_a_connector_is_shown_as_it_was_at_a_position_and_at_a_time(
    callers: Callers, resources: Resources, world: World
) -> None:
    path, grant = world.path("granted"), world.grant("granted", "triage")
    before = await world.owner.get(path)
    position = (await resources.log.head()).position
    moment = datetime.now(UTC)
    await world.manager.delete(grant)
    await world.owner.post(f"{path}/grants/public")
    await tables(resources, "connectors")

    for at in (position, moment.isoformat().replace("+", "%2B")):
        then = await world.owner.get(f"{path}?at={at}")
        assert (then.status, then.data) == (200, before.data)
        assert then.position == position
    now = await world.owner.get(path)
    assert (now.data["visibility"], len(now.data["grants"])) == ("public", 1)
    later = (moment + timedelta(days=1)).isoformat().replace("+", "%2B")
    assert (await world.owner.get(f"{path}?at={later}")).data == now.data

    # What may be seen of the past goes by what the caller may see now.
    as_manager = await world.manager.get(f"{path}?at={position}")
    assert [each["agent_id"] for each in as_manager.data["grants"]] == [
        world.ids["triage"]
    ]
    stranger = await callers.user("stranger")
    assert (await stranger.get(f"{path}?at={position}")).data["grants"] == []


async def test_the_past_begins_with_the_connector_and_ends_with_the_log(
    resources: Resources, world: World
) -> None:
    path = world.path("granted")
    head = (await resources.log.head()).position

    assert (await world.owner.get(f"{path}?at=0")).status == 404
    assert (await world.owner.get(f"{path}?at=1999-12-31")).status == 404
    beyond = await world.owner.get(f"{path}?at={head + 1}")
    assert (beyond.status, beyond.data["errors"][0]["path"]) == (400, "at")


async def test_the_past_of_a_retired_connector_is_left_to_a_few(
    callers: Callers, resources: Resources, world: World
) -> None:
    path = world.path("public")
    stranger = await callers.user("stranger")
    auditor = await callers.user("auditor", "auditor")
    position = (await resources.log.head()).position
    await world.owner.delete(path)
    await tables(resources, "connectors")

    for caller, status in ((world.owner, 200), (auditor, 200), (stranger, 404)):
        assert (await caller.get(f"{path}?at={position}")).status == status
        assert (await caller.get(path)).status == 404
    now = (await resources.log.head()).position
    assert (await world.owner.get(f"{path}?at={now}")).status == 404


@pytest.mark.parametrize(
    "query",
    [
        "?scope=mine",
        "?scope=owned&scope=public",
        "?agent_id=x",
        f"/{SOME_ID}?at=yesterday",
        f"/{SOME_ID}?at=-1",
        f"/{SOME_ID}?at=",
        f"/{SOME_ID}?at=2026-03-01T12:00:00+25:00",
        "/x",
    ],
)
async def test_malformed_requests_are_refused(ada: Caller, query: str) -> None:
    reply = await ada.get(CONNECTORS + query)

    assert (reply.status, reply.code) == (400, "malformed_request")
