"""Agents, connectors and users by name on the command line."""

import csv
import io
import json
from pathlib import Path

from tests.integration.client.art import Art
from tests.support.callers import Caller, Callers


async def make(caller: Caller, *names: str) -> list[str]:
    """Make agents of these names, and return their ids."""
    made = [await caller.post("/api/catalog/agents", {"name": each}) for each in names]
    return [each.data["id"] for each in made]


async def make_connectors(caller: Caller, *names: str) -> list[str]:
    ids = []
    for name in names:
        body = {"name": name, "url": "https://mail.example/mcp"}
        ids.append((await caller.post("/api/mcp/connectors", body)).data["id"])
    return ids


async def test_arguments_take_names(art: Art, ada: Caller, callers: Callers) -> None:
    eve = await callers.user("eve")
    [agent] = await make(ada, "Support triage")
    [connector] = await make_connectors(ada, "Mail, all")

    shown = await art("agents", "show", "Support triage")
    granted = await art("connectors", "grant", "Mail, all", "Support triage", "--yes")
    appointed = await art("agents", "add-reader", "Support triage", "eve", "--yes")
    listed = await art("connectors", "list", "--agent-id", "Support triage")
    explained = await art("rules", "explain", "Support triage", "Mail, all", "send")

    assert shown.data["id"] == agent
    assert granted.data["connector_id"] == connector
    assert appointed.data["reader_ids"] == [str(eve.user_id)]
    assert [each["id"] for each in listed.data] == [connector]
    assert explained.data["reason"], explained.err


async def test_a_name_of_nothing_is_not_found(art: Art, ada: Caller) -> None:
    await make(ada, "Support triage")

    near = await art("agents", "show", "Suport triage")
    far = await art("agents", "show", "xyz")
    user = await art("users", "show", "nobody")

    assert (near.code, far.code, user.code) == (3, 3, 3)
    assert "did you mean Support triage?" in json.loads(near.err)["message"]
    assert "see art agents list" in json.loads(far.err)["message"]


async def test_a_name_of_several_is_refused_with_their_ids(
    art: Art, ada: Caller
) -> None:
    ids = await make(ada, "Twin", "Twin")

    both = await art("agents", "show", "Twin")
    retired = await art("agents", "retire", ids[0], "--yes")
    left = await art("agents", "show", "Twin")

    assert both.code == 2
    assert "2 agents are named 'Twin'" in both.err
    assert all(each in both.err for each in ids)
    assert retired.code == 0, retired.err
    assert left.data["id"] == ids[1]


async def test_what_may_be_an_id_is_one(art: Art, ada: Caller) -> None:
    [first] = await make(ada, "First")
    [other] = await make(ada, first)

    shown = await art("agents", "show", first)

    assert shown.data["id"] == first != other


async def test_tables_have_names_beside_ids(art: Art, ada: Caller) -> None:
    [agent] = await make(ada, "Support triage")
    connectors = await make_connectors(ada, *(f"Mail {n:02}" for n in range(12)))
    for connector in connectors:
        await ada.put(f"/api/mcp/connectors/{connector}/grants/agents/{agent}")
    rules = [
        {"connector_id": each, "tool_pattern": "*", "stance": "ask"}
        for each in connectors
    ]
    await ada.put(f"/api/mcp/agents/{agent}/tools", {"rules": rules})
    start = {"agent_id": agent, "session_id": "s"}
    await ada.post("/api/observability/session", start)

    shown = await art("rules", "show", "Support triage", "--output", "table")
    chosen = await art(
        *("sessions", "list", "--output", "csv", "--columns", "agent, session_id")
    )
    plain = await art("sessions", "list")

    assert "agent     Support triage" in shown.out
    assert all(f"Mail {n:02}" in shown.out for n in range(12))
    assert [*csv.reader(io.StringIO(chosen.out))] == [
        ["agent", "session_id"],
        ["Support triage", "s"],
    ]
    assert "agent" not in plain.data[0]


async def test_a_file_of_rules_takes_names(
    art: Art, ada: Caller, tmp_path: Path
) -> None:
    [agent] = await make(ada, "Support triage")
    mail, chat = await make_connectors(ada, "Mail: all", "Chat")
    file, plan = tmp_path / "rules.yaml", tmp_path / "plan.json"
    file.write_text(
        "agent: Support triage\nconnectors:\n  'Mail: all':\n    allow: ['read_*']\n"
        "  Chat:\n    deny: ['*']\n"
    )

    planned = await art("rules", "plan", file, "--out", plan)
    applied = await art("rules", "apply", file, "--plan", plan, "--yes")
    by_id = await art("rules", "pull", "Support triage")
    by_name = await art("rules", "pull", agent, "--names")
    file.write_text(by_name.out)
    same = await art("rules", "plan", file, "--exit-code")

    assert planned.code == 0, planned.err
    assert f"+ Mail: all ({mail})  allow  read_*" in planned.err
    assert applied.code == 0, applied.err
    assert f"agent_id: {agent}\n" in by_id.out
    assert f"  {chat}:  # Chat\n" in by_id.out
    assert by_name.out.endswith(
        'agent: "Support triage"\nconnectors:\n  "Chat":\n    deny:\n      - "*"\n'
        '  "Mail: all":\n    allow:\n      - "read_*"\n'
    )
    assert same.code == 0, same.err


async def test_names_that_are_not_unique_are_pulled_as_ids(
    art: Art, ada: Caller, tmp_path: Path
) -> None:
    [agent, _] = await make(ada, "Twin", "Twin")
    [mail, _] = await make_connectors(ada, "Mail", "Mail")
    rules = [{"connector_id": mail, "tool_pattern": "*", "stance": "ask"}]
    await ada.put(f"/api/mcp/agents/{agent}/tools", {"rules": rules})
    file = tmp_path / "rules.yaml"

    pulled = await art("rules", "pull", agent, "--names")
    file.write_text(pulled.out)
    same = await art("rules", "plan", file, "--exit-code")

    assert f'agent: "{agent}"\nconnectors:\n  {mail}:\n' in pulled.out
    assert f"{mail} has no name of its own" in pulled.err
    assert same.code == 0, same.err


async def test_a_plan_is_of_what_the_names_meant(
    art: Art, ada: Caller, tmp_path: Path
) -> None:
    await make(ada, "Triage")
    [mail] = await make_connectors(ada, "Mail")
    file, plan = tmp_path / "rules.yaml", tmp_path / "plan.json"
    file.write_text("agent: Triage\nconnectors: {Mail: {allow: ['*']}}\n")

    planned = await art("rules", "plan", file, "--out", plan)
    renamed = {"name": "Old", "url": "https://mail.example/mcp", "description": ""}
    await ada.put(f"/api/mcp/connectors/{mail}", renamed)
    await make_connectors(ada, "Mail")
    applied = await art("rules", "apply", file, "--plan", plan, "--yes")

    assert planned.code == 0, planned.err
    assert applied.code == 2
    assert "plan of another file" in applied.err


async def test_a_connector_stands_in_a_file_once(
    art: Art, ada: Caller, tmp_path: Path
) -> None:
    await make(ada, "Triage")
    [mail] = await make_connectors(ada, "Mail")
    file = tmp_path / "rules.yaml"
    file.write_text(
        f"agent: Triage\nconnectors: {{Mail: {{allow: [a]}}, {mail}: {{deny: [b]}}}}\n"
    )

    run = await art("rules", "plan", file)

    assert run.code == 2
    assert "a connector twice" in run.err
