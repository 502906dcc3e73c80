"""Rules that match none of a connector's tools, and warnings of what was meant."""

from collections.abc import Iterable
from uuid import UUID

import pytest

from service.gateway.tool_names import LatestToolNames
from service.tool_rules.known_tools import KnownTools
from tests.integration.gateway.patterns import TOOLS, put, rules
from tests.integration.gateway.world import ALLOW, ASK, DENY, World, tool
from tests.support.callers import Reply


def found(reply: Reply) -> list[tuple[str, str, str | None]]:
    assert reply.status == 200, reply.data
    return [
        (each["code"], each["tool_pattern"], each["suggestion"])
        for each in reply.data["warnings"]
    ]


def digits(world: World) -> str:
    return world.connector_id.hex[:8]


async def test_a_deny_that_denies_nothing_has_a_warning(tracker: World) -> None:
    reply = await put(
        tracker, ("*", ALLOW), ("mcp__issue-tracker__delete_*", DENY), ("q", DENY)
    )

    assert reply.status == 200
    assert reply.data["warnings"] == [
        {
            "code": "rule_matches_nothing",
            "message": "deny 'mcp__issue-tracker__delete_*' matches none of the "
            "connector's known tools: it denies nothing; 'delete_*' was probably meant",
            "connector_id": str(tracker.connector_id),
            "tool_pattern": "mcp__issue-tracker__delete_*",
            "stance": "deny",
            "shadowed_by": None,
            "suggestion": "delete_*",
        }
    ]


@pytest.mark.parametrize("stance", [ALLOW, ASK, DENY])
async def test_every_stance_and_every_way_to_miss(tracker: World, stance: str) -> None:
    prefix = f"issue-tracker-{digits(tracker)}"
    missing = {
        "mcp__issue-tracker__delete_*": "delete_*",
        "MCP__Issue-Tracker__Delete_*": "delete_*",
        "mcp__plugin_x_tracker__list_issues": "list_issues",
        "issue-tracker_delete_*": "delete_*",
        "issue-tracker_q": "q",
        f"{prefix}_q": "q",
        "Delete_*": "delete_*",
        "delete_.*": "delete_*",
        "delete:issue": "delete_issue",
        "drop_*": None,
    }
    matching = ["*", "delete_*", "q", "list_issue?", "*_*"]

    reply = await put(tracker, *[(each, stance) for each in [*missing, *matching]])

    assert found(reply) == [
        ("rule_matches_nothing", pattern, missing[pattern])
        for pattern in sorted(missing)
    ]
    effect = {ALLOW: "allows", ASK: "asks about", DENY: "denies"}[stance]
    for each in reply.data["warnings"]:
        assert f": it {effect} nothing" in each["message"]


async def test_a_suggestion_has_the_meaning_that_the_alias_had(tracker: World) -> None:
    for suffix in ("", f"-{digits(tracker)}"):
        alias = tracker.alias("list_issues", f"issue-tracker{suffix}")
        ((_, _, suggestion),) = found(await put(tracker, (alias, DENY)))
        assert suggestion == "list_issues"


async def test_an_alias_with_digits_of_its_hash_is_recognized(tracker: World) -> None:
    await tracker.lists(*TOOLS, tool("admin:users/purge"))
    alias = tracker.alias("admin:users/purge", "issue-tracker")

    reply = await put(tracker, (alias, DENY))

    assert found(reply) == [("rule_matches_nothing", alias, "admin:users/purge")]


async def test_a_tool_that_is_gone_is_known(tracker: World) -> None:
    await tracker.lists(tool("q"))

    reply = await put(tracker, ("delete_issue", DENY), ("list_*", DENY), ("Q", DENY))

    assert found(reply) == [("rule_matches_nothing", "Q", "q")]


async def test_what_is_observed_and_renamed_counts_at_once(tracker: World) -> None:
    patterns = (("bugs_drop_*", DENY), ("bugs_q", DENY))
    before = found(await put(tracker, *patterns))
    await tracker.record_mode("strict", slug="bugs")
    renamed = found(await put(tracker, *patterns))
    await tracker.lists(*TOOLS, tool("drop_table"))
    extended = found(await put(tracker, *patterns))

    for each, meant in (
        (before, [None, None]),
        (renamed, [None, "q"]),
        (extended, ["drop_*", "q"]),
    ):
        assert each == [
            ("rule_matches_nothing", pattern, suggestion)
            for (pattern, _), suggestion in zip(patterns, meant, strict=True)
        ]
    await tracker.lists(*TOOLS, tool("bugs_q"), tool("bugs_drop_all"))

    assert found(await put(tracker, *patterns)) == []


async def test_only_what_is_certain_before_the_first_observation(
    world: World,
) -> None:
    registered = {"name": "Al", "url": "https://al.example/mcp"}
    reply = await world.ada.post("/api/mcp/connectors", registered)
    world.connector_id = UUID(reply.data["id"])
    await world.ada.put(world.grant)
    alias = f"al-{digits(world)}_q"

    reply = await put(
        world,
        ("*", ALLOW),
        ("Delete_*", DENY),
        ("delete_.*", DENY),
        ("al_q", DENY),
        (alias, ASK),
        ("mcp__al__q", ALLOW),
    )

    assert found(reply) == [
        ("rule_matches_nothing", pattern, "q")
        for pattern in sorted([alias, "al_q", "mcp__al__q"])
    ]
    assert reply.data["warnings"][1]["message"] == (
        "deny 'al_q' begins as a tool is called elsewhere; rules take the tool's own "
        "name; 'q' was probably meant"
    )


async def test_nothing_is_told_of_a_connector_that_the_agent_does_not_hold(
    tracker: World,
) -> None:
    await tracker.ada.delete(tracker.grant)

    reply = await put(
        tracker, ("Delete_*", DENY), ("issue-tracker_q", DENY), ("mcp__x__y", DENY)
    )

    assert found(reply) == [
        ("connector_not_granted", None, None),
        ("rule_matches_nothing", "mcp__x__y", "y"),
    ]


async def test_reads_previews_and_restores_have_the_warning(tracker: World) -> None:
    batch = rules(tracker.connector_id, ("Delete_*", DENY), ("*", ALLOW))
    expected = [("rule_matches_nothing", "Delete_*", "delete_*")]

    previewed = await tracker.ada.post(f"{tracker.agent}/tools/preview", batch)
    replaced = await tracker.ada.put(f"{tracker.agent}/tools", batch)
    read = await tracker.ada.get(f"{tracker.agent}/tools")
    await tracker.ada.put(f"{tracker.agent}/tools", {"rules": []})
    restored = await tracker.ada.post(
        f"{tracker.agent}/tools/restore", {"at": replaced.position}
    )

    for reply in (previewed, replaced, read, restored):
        assert found(reply) == expected


async def test_an_observation_at_the_same_time_does_not_make_the_command_wait(
    tracker: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0
    known_tools = LatestToolNames.known_tools

    async def observed_meanwhile(
        names: LatestToolNames, connector_ids: Iterable[str]
    ) -> dict[str, KnownTools]:
        nonlocal asked
        asked += 1
        known = await known_tools(names, connector_ids)
        await tracker.lists(*TOOLS, tool(f"new_{asked}"))
        return known

    monkeypatch.setattr(LatestToolNames, "known_tools", observed_meanwhile)

    reply = await put(tracker, ("Q", DENY))

    assert found(reply) == [("rule_matches_nothing", "Q", "q")]
    assert asked == 1
