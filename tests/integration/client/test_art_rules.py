"""The command ``art`` with rules as files, and warnings about them."""

import json
from pathlib import Path
from uuid import UUID

import pytest

from service.resources import Resources
from tests.integration.client.art import Art
from tests.support.callers import Caller
from tests.support.gateway.observing import observe

TOOLS = [
    {"name": name, "inputSchema": {"type": "object"}} for name in ("read_all", "send")
]


async def agent_and_connector(caller: Caller) -> tuple[str, str]:
    agent = await caller.post("/api/catalog/agents", {"name": "Triage"})
    mail = {"name": "Mail", "url": "https://mail.example/mcp"}
    connector = await caller.post("/api/mcp/connectors", mail)
    return agent.data["id"], connector.data["id"]


async def test_rules_are_pulled_planned_and_applied(
    art: Art, ada: Caller, resources: Resources, tmp_path: Path
) -> None:
    agent, connector = await agent_and_connector(ada)
    await ada.put(f"/api/mcp/connectors/{connector}/grants/agents/{agent}")
    await observe(resources.log, UUID(connector), TOOLS)
    file, plan = tmp_path / "rules.yaml", tmp_path / "plan.json"
    file.write_text(
        f"agent_id: {agent}\nconnectors:\n  {connector}:\n    allow: ['read_*']\n"
    )

    planned = await art("rules", "plan", file, "--out", plan, "--exit-code")
    applied = await art("rules", "apply", file, "--plan", plan, "--yes")
    stale = await art("rules", "apply", file, "--plan", plan, "--yes")
    pulled = await art("rules", "pull", agent)
    file.write_text(pulled.out)
    same = await art("rules", "plan", file, "--exit-code", "--output", "table")
    other = await art("rules", "apply", file, "--plan", plan, "--yes")

    assert planned.code == 10, planned.err
    assert planned.data["connectors"][0]["tools"] == [
        {"tool": "read_all", "before": "deny", "after": "allow"}
    ]
    # A person reads the difference in the log of a run, with the connector's name.
    assert f"+ Mail ({connector})  allow  read_*" in planned.err
    assert f"read_all of Mail ({connector}): deny -> allow" in planned.err
    assert f"  {connector}:  # Mail\n" in pulled.out
    assert applied.code == 0, applied.err
    assert stale.code == 5
    assert same.code == 0
    assert "no decision differs" in same.out
    assert other.code == 2
    assert "another file" in other.err


async def test_rules_without_a_plan_are_shown_before_they_are_applied(
    art: Art, ada: Caller, tmp_path: Path
) -> None:
    agent, connector = await agent_and_connector(ada)
    file = tmp_path / "rules.yaml"
    file.write_text(
        f"agent_id: {agent}\nconnectors:\n  {connector}:\n    ask: ['send']\n"
    )

    refused = await art.on_a_terminal("rules", "apply", file, typed="n\n")
    dry = await art("rules", "apply", file, "--dry-run", "--yes")
    done = await art.on_a_terminal("rules", "apply", file, typed="y\n")

    assert (refused.code, dry.code, done.code) == (1, 0, 0)
    assert f"+ Mail ({connector})  ask  send" in refused.err
    assert "doesn't hold this connector" in refused.err
    rules = await art("rules", "show", agent)
    assert [each["tool_pattern"] for each in rules.data["rules"]] == ["send"]


async def test_a_plan_says_which_connectors_were_never_observed(
    art: Art, ada: Caller, tmp_path: Path
) -> None:
    agent, connector = await agent_and_connector(ada)
    await ada.put(f"/api/mcp/connectors/{connector}/grants/agents/{agent}")
    file = tmp_path / "rules.yaml"
    file.write_text(
        f"agent_id: {agent}\nconnectors:\n  {connector}:\n    ask: ['send_*']\n"
    )

    planned = await art("rules", "plan", file)

    assert planned.code == 0, planned.err
    assert f"the tools of Mail ({connector}) were never observed" in planned.err
    assert "send_x" not in planned.err


async def test_a_difference_has_rules_grants_and_decisions_on_known_tools(
    art: Art, ada: Caller, resources: Resources
) -> None:
    agent, connector = await agent_and_connector(ada)
    before = (await resources.log.head()).position
    granted = await ada.put(f"/api/mcp/connectors/{connector}/grants/agents/{agent}")
    rule = {"connector_id": connector, "tool_pattern": "send*", "stance": "ask"}
    ruled = await ada.put(f"/api/mcp/agents/{agent}/tools", {"rules": [rule]})

    unknown = await art("rules", "diff", agent, before)
    await observe(resources.log, UUID(connector), TOOLS)
    known = await art("rules", "diff", agent, before, "--output", "table")
    same = await art("rules", "diff", agent, granted.position, granted.position)

    name = f"Mail ({connector})"
    assert unknown.code == 0, unknown.err
    assert unknown.err.splitlines() == [
        f"+ {name}  ask  send*",
        f"+ {name}  grant",
        "no decision differs",
        f"no tools of {name} were known: no decisions",
    ]
    assert known.out.splitlines() == [
        f"+ {name}  ask  send*",
        f"+ {name}  grant",
        "decisions that differ:",
        f"  send of {name}: deny -> ask",
    ]
    assert unknown.data["until_position"] >= ruled.position
    assert same.err.splitlines() == ["no decision differs"]


async def test_warnings_about_rules_are_shown_and_refused_on_demand(
    art: Art, ada: Caller, resources: Resources, tmp_path: Path
) -> None:
    agent, connector = await agent_and_connector(ada)
    await ada.put(f"/api/mcp/connectors/{connector}/grants/agents/{agent}")
    await observe(resources.log, UUID(connector), TOOLS)
    file, plan = tmp_path / "rules.yaml", tmp_path / "plan.json"
    file.write_text(
        f"agent_id: {agent}\nconnectors:\n  {connector}:\n    deny: ['Read_*']\n"
    )
    batch = tmp_path / "rules.json"
    rule = {"connector_id": connector, "tool_pattern": "Read_*", "stance": "deny"}
    batch.write_text(json.dumps([rule]))
    strict = "--refuse-warnings"

    planned = await art("rules", "plan", file, "--out", plan)
    refused = [
        await art("rules", "plan", file, strict),
        await art("rules", "apply", file, "--yes", strict),
        await art("rules", "apply", file, "--plan", plan, "--yes", strict),
        await art("rules", "replace", agent, batch, "--yes", strict),
    ]
    unchanged = await art("rules", "show", agent)
    done = [
        await art("rules", "apply", file, "--plan", plan, "--yes"),
        await art("rules", "replace", agent, batch, "--yes"),
        await art("rules", "show", agent),
    ]

    warning = (
        f"warning: Mail ({connector}): deny 'Read_*' matches none of the connector's "
        "known tools: it denies nothing; 'read_*' was probably meant\n"
    )
    assert planned.code == 0
    assert [each.code for each in refused] == [1] * 4
    assert unchanged.data["version"] == 0
    assert [each.code for each in done] == [0] * 3
    for each in (planned, *refused[:2], *done):
        assert each.err.count(warning) == 1, each.err
    for each in refused[2:]:
        assert "rule_warnings" in each.err
        assert "rules[0].tool_pattern" in each.err
        assert "'read_*' was probably meant" in each.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[", "rules.yaml"),
        ("agent_id: x", "needs agent or agent_id, and connectors"),
        (
            "agent: x\nconnectors:\n  a: {deny: [b]}\n  a: {deny: [c]}",
            "line 4: a is there twice",
        ),
        ("agent: x\nconnectors: {a: {deny: [b], deny: [c]}}", "deny is there twice"),
        ("? [a]\n: b", "yaml"),
        ("agent: 7\nconnectors: {}", "write the agent 7 in quotes"),
        ("agent: x\nconnectors: {on: {deny: [b]}}", "write True in quotes"),
        ("agent_id: x\nconnectors: [a]", "takes names"),
        ("agent_id: x\nconnectors: {a: {maybe: [b]}}", "deny, ask, allow"),
        ("agent_id: x\nconnectors: {a: {deny: b}}", "a list of texts"),
        ("agent_id: x\nconnectors: {a: {}}", "remove-connector"),
    ],
)
async def test_a_file_of_rules_that_is_wrong_says_how(
    art: Art, tmp_path: Path, content: str, words: str
) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(content)

    run = await art("rules", "plan", file)

    assert run.code == 2
    assert words in run.err
