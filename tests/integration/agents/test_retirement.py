"""Editing and retiring agents over HTTP, and what a retired agent may still do."""

from uuid import UUID

from tests.support.callers import Caller, Callers
from tests.support.tool_rules.setting import Setting, path, put, rule

AGENTS = "/api/catalog/agents"


async def test_an_edited_agent_is_read_under_its_new_name(
    ada: Caller, agent: UUID
) -> None:
    edited = await ada.put(
        f"{AGENTS}/{agent}", {"name": "Sorter", "description": "Sorts"}
    )

    assert (edited.status, edited.message) == (200, "agent edited")
    assert (edited.data["name"], edited.data["state"]) == ("Sorter", "active")
    got = await ada.get(f"{AGENTS}/{agent}", X_Min_Position=str(edited.position))
    assert got.data == edited.data
    again = await ada.put(
        f"{AGENTS}/{agent}", {"name": "Sorter", "description": "Sorts"}
    )
    assert again.message == "agent already had this name and description"
    assert "X-Event-Position" not in again.headers
    partial = await ada.put(f"{AGENTS}/{agent}", {"name": "Sorter"})
    assert [each["path"] for each in partial.data["errors"]] == ["description"]


async def test_a_retired_agent_is_denied_everything_and_its_history_stays(
    setting: Setting, ada: Caller, root: Caller, agent: UUID, tracker: UUID
) -> None:
    await setting.lists(tracker, "a")
    await put(ada, agent, rule(tracker, "a", "allow"))

    retired = await ada.delete(f"{AGENTS}/{agent}")

    assert (retired.status, retired.message) == (200, "agent retired")
    assert retired.data["state"] == "retired"
    seen = {"X_Min_Position": str(retired.position)}
    got = await ada.get(f"{AGENTS}/{agent}", **seen)
    assert got.data == retired.data
    assert (await ada.get(AGENTS, **seen)).data["agents"] == [retired.data]
    asked = f"{path(agent)}/explain?connector_id={tracker}&tool=a"
    now = (await ada.get(asked, **seen)).data
    assert (now["stance"], now["reason"]) == ("deny", "agent_retired")
    assert now["granted"] is False
    for origin in (now["stance_since"], now["granted_since"]):
        assert origin["position"] == retired.position
    before = (await ada.get(f"{asked}&at={retired.position - 1}", **seen)).data
    assert (before["stance"], before["reason"]) == ("allow", "rule")
    rules = await ada.get(path(agent), **seen)
    assert rules.data["rules"] == [rule(tracker, "a", "allow")]
    between = f"since={retired.position - 1}&until={retired.position}"
    compared = await root.get(
        f"/api/audit/agents/{agent}/decisions/difference?{between}"
    )
    (connector,) = compared.data["connectors"]
    assert (connector["granted_before"], connector["granted_after"]) == (True, False)
    (tool,) = connector["tools"]
    assert (tool["before"], tool["after"]) == ("allow", "deny")
    assert tool["changed_by"]["position"] == retired.position
    exposed = await root.get(f"/api/audit/connectors/{tracker}/exposure?{between}")
    (grant,) = exposed.data["grants"]
    assert grant["until"]["position"] == retired.position
    later = await root.get(
        f"/api/audit/connectors/{tracker}/exposure?since={retired.position}"
    )
    assert later.data["grants"] == []


async def test_rules_and_grants_of_a_retired_agent_are_not_changed(
    callers: Callers, setting: Setting, ada: Caller, agent: UUID, tracker: UUID
) -> None:
    mail = await setting.connector(ada)
    await put(ada, agent, rule(tracker, "a", "allow"))
    await ada.delete(f"{AGENTS}/{agent}")

    def grant(connector: UUID) -> str:
        return f"/api/mcp/connectors/{connector}/grants/agents/{agent}"

    for refused in (
        await put(ada, agent, rule(tracker, "b", "allow")),
        await put(ada, agent),
        await ada.post(f"{path(agent)}/preview", {"rules": []}),
        await ada.post(f"{path(agent)}/restore", {"at": 0}),
        await ada.delete(f"{path(agent)}/connectors/{tracker}"),
        await ada.put(grant(mail)),
        await ada.put(f"{AGENTS}/{agent}", {"name": "New", "description": ""}),
    ):
        assert (refused.status, refused.code) == (409, "agent_retired")
    assert (await ada.delete(grant(tracker))).status == 200
    again = await ada.delete(f"{AGENTS}/{agent}")
    assert (again.status, again.message) == (200, "agent was already retired")
    stranger = await callers.user("stranger")
    assert (await put(stranger, agent, rule(tracker, "b", "allow"))).status == 403
    body = {"agent_id": str(agent), "session_id": "after-retirement"}
    assert (await ada.post("/api/observability/session", body)).status == 201


async def test_the_trail_shows_present_names(setting: Setting, root: Caller) -> None:
    agent = await setting.agent(root)
    reply = await root.put(f"{AGENTS}/{agent}", {"name": "Sorter", "description": ""})

    entry = (await root.get(f"/api/audit/events/{reply.position}")).data

    assert entry["resource"]["name"] == "Sorter"
    assert entry["what"] == (
        f"edited the agent Sorter ({agent}): name 'Sorter', was 'Triage'"
    )
