"""A name that agents see is explained as the tool behind it."""

from typing import Any

import pytest

from tests.integration.gateway.world import ALLOW, DENY, TOOLS, World, tool


async def explained(world: World, name: str) -> tuple[Any, ...]:
    found = await world.explained(name)
    return tuple(found[key] for key in ("tool", "explained_tool", "stance", "reason"))


@pytest.fixture
async def ruled(world: World) -> World:
    await world.record_mode("strict", slug="al")
    await world.lists(*TOOLS, tool("q"), tool("al_list"), tool("list"))
    for name in ("q", "al_list", "list"):
        await world.accept(name)
    await world.rule(q=ALLOW, issues_any=ALLOW, issues_delete=DENY, list=DENY)
    return world


async def test_an_alias_is_decided_as_its_calls_are(ruled: World) -> None:
    digits = ruled.connector_id.hex[:8]

    for prefix in ("al", f"al-{digits}"):
        for name in ("q", "issues.create", "issues.delete"):
            alias = ruled.alias(name, prefix)
            decided = await ruled.explained(name)
            of_alias = await ruled.explained(alias)
            assert (of_alias["tool"], of_alias["explained_tool"]) == (alias, name)
            assert {**of_alias, "tool": name} == decided
    assert await explained(ruled, "al_q") == ("al_q", "q", "allow", "rule")


async def test_a_tools_own_name_is_not_taken_for_an_alias(ruled: World) -> None:
    # Agents see the tool al_list as al_al_list, and the tool list as al_list.
    assert await explained(ruled, "al_list") == (
        "al_list",
        "al_list",
        "deny",
        "no_rule_matches",
    )
    assert (await explained(ruled, "al_al_list"))[1] == "al_list"


async def test_other_names_are_explained_as_they_are(ruled: World) -> None:
    for name in ("al_", "al_drop", "other_q", "mcp__al__q"):
        assert await explained(ruled, name) == (name, name, "deny", "no_such_tool")


async def test_a_tool_that_is_gone_is_found_behind_its_alias(ruled: World) -> None:
    await ruled.lists(*TOOLS)

    assert await explained(ruled, "al_q") == ("al_q", "q", "deny", "no_such_tool")
    assert (await ruled.explained("al_q"))["definition"] == "gone"


async def test_an_alias_of_then_is_explained_by_the_slug_of_then(ruled: World) -> None:
    then = (await ruled.resources.log.head()).position
    await ruled.record_mode("strict", slug="bugs")

    assert (await explained(ruled, "al_q"))[1] == "al_q"
    assert (await explained(ruled, "bugs_q"))[1] == "q"
    assert (await explained(ruled, f"al_q&at={then}"))[1:3] == ("q", "allow")
