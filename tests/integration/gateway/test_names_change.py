"""Changes after which agents see tools under other names have warnings."""

from typing import Any
from uuid import UUID

from service.connectors.commands import Edit
from service.connectors.names_change import (
    AGENTS_NAMED_MAX,
    changed_connector_resource,
)
from tests.integration.gateway.patterns import rules
from tests.integration.gateway.world import ALLOW, TOOLS, TRACKER, World
from tests.support.callers import Caller, Callers, Reply
from tests.support.connectors.making import OWNER, connector_of
from tests.support.gateway.observing import observe


async def prefixes(world: World) -> dict[UUID, str]:
    tools = (await world.gate.tools(await world.caller())).tools
    return {each.connector.connector_id: each.prefix for each in tools}


async def twin(world: World, owner: Caller) -> UUID:
    """Return another connector with the same slug, which the agent holds."""
    connector_id = UUID((await owner.post("/api/mcp/connectors", TRACKER)).data["id"])
    grant = f"/api/mcp/connectors/{connector_id}/grants/agents/{world.agent_id}"
    await owner.put(grant)
    assert (await world.ada.put(grant)).status in {200, 201}
    await observe(world.resources.log, connector_id, TOOLS)
    return connector_id


async def renamed(world: World, name: str) -> Any:
    edited = {**TRACKER, "name": name, "description": ""}
    reply = await world.ada.put(world.connector, edited)
    assert reply.status == 200, reply.data
    return reply.data["warnings"]


def told(reply: Reply) -> list[tuple[str, str]]:
    assert reply.status == 200, reply.data
    return [
        (each["connector_id"], each["message"])
        for each in reply.data["warnings"]
        if each["code"] == "names_change"
    ]


def becomes(connector: UUID, before: str, after: str) -> tuple[str, str]:
    message = (
        f"the agent sees its tools as '{after}_...' instead of '{before}_...', as "
        "another connector with the same slug gets rules or loses them; change prompts "
        "and clients' permissions that name them"
    )
    return str(connector), message


async def test_another_name_without_a_slug_has_a_warning(world: World) -> None:
    assert await renamed(world, "Bug tracker") == [
        {
            "code": "names_change",
            "message": "the agents that hold it (1) see its tools as 'bug-tracker_...' "
            "instead of 'tracker_...' (with digits of its id for an agent that has "
            "rules for another connector with that slug, whose names change, too); "
            "change prompts and clients' permissions that name them",
            "connector_id": str(world.connector_id),
            "prefix_before": "tracker",
            "prefix_after": "bug-tracker",
            "agents": 1,
            "agent_ids": [str(world.agent_id)],
        }
    ]
    assert await renamed(world, "Bug  Tracker") == [], "the slug is the same"


async def test_another_slug_has_a_warning_and_another_name_then_none(
    world: World,
) -> None:
    settings = {"slug": "bugs", "record_mode": "strict"}

    first = await world.ada.put(f"{world.connector}/gateway", settings)
    again = await world.ada.put(f"{world.connector}/gateway", settings)

    (warning,) = first.data["warnings"]
    assert (warning["prefix_before"], warning["prefix_after"]) == ("tracker", "bugs")
    assert again.data["warnings"] == []
    assert await renamed(world, "Something else") == []


async def test_a_slug_that_ends_as_if_in_digits_of_an_id_has_some_anyway(
    world: World,
) -> None:
    """Agents see it so whatever else they hold."""
    await world.rule(any=ALLOW)
    seen = [(await prefixes(world))[world.connector_id]]
    told_of = []
    for name in ("Build 20261128", "Builds"):
        (warning,) = await renamed(world, name)
        told_of.append((warning["prefix_before"], warning["prefix_after"]))
        assert f"'{warning['prefix_after']}_...' instead of" in warning["message"]
        seen.append((await prefixes(world))[world.connector_id])

    assert seen[1] == f"build-20261128-{world.connector_id.hex[:8]}"
    assert told_of == [(seen[0], seen[1]), (seen[1], seen[2])]


async def test_a_slug_that_another_connector_has_changes_the_names_of_both(
    world: World,
) -> None:
    await renamed(world, "Bugs")
    other = await twin(world, world.ada)
    await world.rule(any=ALLOW)
    await world.ada.put(f"{world.agent}/tools", rules(other, ("*", ALLOW)))
    before = await prefixes(world)

    (warning,) = await renamed(world, "Tracker")

    one = world.connector_id
    assert before == {one: "bugs", other: "tracker"}
    assert await prefixes(world) == {
        each: f"{warning['prefix_after']}-{each.hex[:8]}" for each in (one, other)
    }
    assert (
        "another connector with that slug, whose names change, too"
        in (warning["message"])
    )


async def test_where_no_agent_holds_it_nothing_changes(world: World) -> None:
    await world.ada.delete(world.grant)

    assert await renamed(world, "Bugs") == []


def test_so_many_agents_are_named() -> None:
    agents = sorted(str(UUID(int=number)) for number in range(AGENTS_NAMED_MAX + 5))
    connector = connector_of(OWNER)
    connector.granted_to = agents

    edit = Edit(connector, has_changed=True, slug_before="other")

    (warning,) = changed_connector_resource(edit)["warnings"]

    assert warning["agents"] == len(agents)
    assert [str(each) for each in warning["agent_ids"]] == agents[:AGENTS_NAMED_MAX]


async def test_rules_for_a_second_connector_with_the_slug_have_a_warning(
    world: World,
) -> None:
    await world.rule(any=ALLOW)
    other = await twin(world, world.ada)
    batch = rules(other, ("*", ALLOW))
    before = await prefixes(world)

    preview = await world.ada.post(f"{world.agent}/tools/preview", batch)
    strict = await world.ada.put(
        f"{world.agent}/tools", batch, Prefer="handling=strict"
    )
    done = await world.ada.put(f"{world.agent}/tools", batch)
    again = await world.ada.put(f"{world.agent}/tools", batch)

    after = await prefixes(world)
    one = world.connector_id
    assert before == {one: "tracker"}
    assert after[one] == f"tracker-{one.hex[:8]}"
    assert told(preview) == told(done) == [becomes(one, "tracker", after[one])]
    assert told(again) == []
    assert strict.status == 422
    assert [each["path"] for each in strict.data["errors"]] == ["rules"]

    path = f"{world.agent}/tools/connectors/{other}"
    removed = await world.ada.delete(path)

    assert told(removed) == [becomes(one, after[one], "tracker")]
    assert await prefixes(world) == before

    restored = await world.ada.post(
        f"{world.agent}/tools/restore", {"at": done.position}
    )

    assert told(restored) == [becomes(one, "tracker", after[one])]


async def test_the_owner_of_one_connector_is_told_of_no_other(
    world: World, callers: Callers
) -> None:
    eve = await callers.user("eve")
    await world.rule(any=ALLOW)
    other = await twin(world, eve)

    done = await eve.put(f"{world.agent}/tools", rules(other, ("*", ALLOW)))
    removed = await eve.delete(f"{world.agent}/tools/connectors/{other}")

    assert told(done) == told(removed) == []


async def test_a_connector_that_is_not_held_is_not_told_of(world: World) -> None:
    await world.rule(any=ALLOW)
    other = await twin(world, world.ada)
    await world.ada.delete(world.grant)

    done = await world.ada.put(f"{world.agent}/tools", rules(other, ("*", ALLOW)))

    assert told(done) == []
