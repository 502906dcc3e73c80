"""Replaying single things, and what can be said of the time between two moments."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from service.resources import Resources
from service.tool_rules.aggregate import ToolRules
from tests.integration.audit.random_history import TOOLS, World, folds
from tests.support.callers import Caller, Callers
from tests.support.reading import read_events
from tests.support.tool_rules.setting import Setting, path, put, rule

STEPS = 25


async def replayed(caller: Caller, aggregate: Any, query: str = "") -> Any:
    reply = await caller.get(f"/api/audit/aggregates/{aggregate}{query}")
    return reply.data if reply.status == 200 else None


@pytest.mark.thorough
async def test_replays_at_every_position_are_the_fold(
    callers: Callers, resources: Resources
) -> None:
    root = await callers.user("root", "superuser")
    world = World(root, seed=11)
    await world.begin()
    for _ in range(STEPS):
        await world.step()
    expected = await folds(resources.database_url)

    for position, fold in enumerate(expected):
        for connector in world.connectors:
            found = await replayed(root, connector, f"?at={position}")
            if found is None:
                continue
            state = found["state"]
            assert found["position"] == position
            assert state["is_public"] == (str(connector) in fold.public)
            assert {(str(connector), each) for each in state["granted_to"]} == {
                each for each in fold.grants if each[0] == str(connector)
            }
        for agent in world.agents:
            rules_id = ToolRules.create_id(str(agent))
            rules = await replayed(root, rules_id, f"?at={position}")
            held = rules["state"]["rules"] if rules else {}
            assert {
                (str(agent), connector, pattern, stance)
                for connector, stances in held.items()
                for pattern, stance in stances.items()
            } == {each for each in fold.rules if each[0] == str(agent)}


async def test_explaining_the_past_says_what_was_said_then(
    callers: Callers,
) -> None:
    root = await callers.user("root", "superuser")
    world = World(root, seed=7)
    await world.begin()
    said: list[tuple[str, int, Any]] = []
    for _ in range(STEPS):
        await world.step()
        head = (await root.get("/readyz")).data["log_position"]
        for tool in TOOLS:
            query = f"connector_id={world.connectors[0]}&tool={tool}"
            asked = f"{path(world.agents[0])}/explain?{query}"
            reply = await root.get(asked, X_Min_Position=str(head))
            said.append((asked, head, reply.data))

    for asked, position, live in said:
        then = await root.get(f"{asked}&at={position}")
        assert then.data == live


async def test_by_version_position_and_time(callers: Callers) -> None:
    root = await callers.user("root", "superuser")
    made = await root.post("/api/catalog/agents", {"name": "Triage"})
    agent = made.data["id"]
    ada = (await root.post("/api/users", {"name": "ada"})).data["id"]
    await root.put(f"/api/catalog/agents/{agent}/managers/{ada}")

    now = await replayed(root, agent)
    first = await replayed(root, agent, "?version=1")

    assert (now["kind"], now["version"]) == ("agent", 2)
    assert now["state"]["manager_ids"] == sorted([str(root.user_id), ada])
    assert first["state"] == {
        "description": "",
        "is_retired": False,
        "manager_ids": [str(root.user_id)],
        "name": "Triage",
        "reader_ids": [],
        "tools_listed_max": None,
    }
    at = await replayed(root, agent, f"?at={made.position}")
    assert at["state"] == first["state"]
    entry = (await root.get(f"/api/audit/events/{made.position}")).data
    by_time = await replayed(root, agent, f"?at={entry['recorded_at']}")
    assert by_time == at
    assert await replayed(root, agent, f"?at={made.position - 1}") is None
    assert await replayed(root, agent, "?version=3") is None
    assert await replayed(root, uuid4()) is None
    assert (
        await root.get(f"/api/audit/aggregates/{agent}?at=1&version=1")
    ).status == 400
    assert (await root.get(f"/api/audit/aggregates/{agent}?at=100000")).status == 400


async def test_difference_between_two_moments(callers: Callers) -> None:
    root = await callers.user("root", "superuser")
    described = {"name": "Tracker", "url": "https://tracker.example/mcp"}
    made = await root.post("/api/mcp/connectors", described)
    connector = made.data["id"]
    shared = await root.post(f"/api/mcp/connectors/{connector}/grants/public")
    base = f"/api/audit/aggregates/{connector}/difference"

    reply = await root.get(f"{base}?since={made.position}&until={shared.position}")
    birth = await root.get(f"{base}?since=0")
    backwards = await root.get(f"{base}?since={shared.position}&until={made.position}")

    assert (reply.data["version_before"], reply.data["version_after"]) == (1, 2)
    changes = {each["path"]: each for each in reply.data["changes"]}
    assert changes.keys() == {"/is_public", "/made_public_by", "/public_since"}
    assert changes["/is_public"] == {
        "path": "/is_public",
        "what": "replaced",
        "before": False,
        "after": True,
    }
    assert birth.data["version_before"] == 0
    assert {each["what"] for each in birth.data["changes"]} == {"added"}
    assert backwards.status == 400


async def test_exposure(callers: Callers, setting: Setting) -> None:
    root = await callers.user("root", "superuser")
    ada = await callers.user("ada")
    agent, other = await setting.agent(ada), await setting.agent(ada)
    connector = await setting.connector(ada)
    grants = f"/api/mcp/connectors/{connector}/grants"
    first = await ada.put(f"{grants}/agents/{agent}")
    shared = await ada.post(f"{grants}/public")
    revoked = await ada.delete(f"{grants}/agents/{agent}")
    hidden = await ada.delete(f"{grants}/public")
    second = await ada.put(f"{grants}/agents/{other}")

    async def asked(since: int, until: int | str) -> Any:
        reply = await root.get(
            f"/api/audit/connectors/{connector}/exposure?since={since}&until={until}"
        )
        data = reply.data
        spans = [
            [
                (
                    each.get("agent_id"),
                    each["since"]["position"],
                    each["until"] and each["until"]["position"],
                )
                for each in data[name]
            ]
            for name in ("grants", "publications")
        ]
        assert data["owner_id"] == str(ada.user_id)
        return spans

    whole = await asked(0, second.position)
    assert whole == [
        [
            (str(agent), first.position, revoked.position),
            (str(other), second.position, None),
        ],
        [(None, shared.position, hidden.position)],
    ]
    assert await asked(0, first.position) == [[(str(agent), first.position, None)], []]
    assert await asked(revoked.position, revoked.position) == [
        [],
        [(None, shared.position, None)],
    ]
    assert await asked(hidden.position, second.position) == [
        [(str(other), second.position, None)],
        [],
    ]
    unknown = await root.get(f"/api/audit/connectors/{uuid4()}/exposure?since=0")
    assert unknown.status == 404


async def test_an_owners_consent_to_a_grant_is_no_second_grant(
    callers: Callers, setting: Setting
) -> None:
    root = await callers.user("root", "superuser")
    ada, bob = await callers.user("ada"), await callers.user("bob")
    agent, connector = await setting.agent(bob), await setting.connector(ada)
    grants = f"/api/mcp/connectors/{connector}/grants"
    await ada.post(f"{grants}/public")
    first = await bob.put(f"{grants}/agents/{agent}")

    own = await ada.put(f"{grants}/agents/{agent}")

    assert own.position > first.position
    path = f"/api/audit/connectors/{connector}/exposure?since=0&until={own.position}"
    (grant,) = (await root.get(path)).data["grants"]
    assert (grant["since"]["position"], grant["until"]) == (first.position, None)


async def test_difference_of_decisions(callers: Callers, setting: Setting) -> None:
    root = await callers.user("root", "superuser")
    ada = await callers.user("ada")
    agent = await setting.agent(ada)
    tracker = await setting.connector(ada, granted_to=[agent])
    mail = await setting.connector(ada, granted_to=[agent])
    await setting.lists(tracker, "issues.read", "issues.delete")
    await setting.lists(mail, "send")
    before = await put(
        ada, agent, rule(tracker, "issues.*", "allow"), rule(mail, "*", "allow")
    )
    # Other words for the same, and one tool that is asked for now.
    after = await put(
        ada,
        agent,
        rule(tracker, "issues.*", "allow"),
        rule(tracker, "issues.delete*", "ask"),
        rule(mail, "*", "allow"),
        rule(mail, "read*", "allow"),
    )
    base = f"/api/audit/agents/{agent}/decisions/difference"
    query = f"?since={before.position}&until={after.position}"

    reply = await root.get(f"{base}{query}")
    revoked = await ada.delete(f"/api/mcp/connectors/{mail}/grants/agents/{agent}")
    lost = await root.get(f"{base}?since={after.position}&until={revoked.position}")

    (found,) = reply.data["connectors"]
    (tool,) = found["tools"]
    assert found["connector_id"] == str(tracker)
    assert tool.pop("changed_by")["position"] == after.position
    assert tool == {"tool": "issues.delete", "before": "allow", "after": "ask"}
    (gone,) = lost.data["connectors"]
    assert (gone["connector_id"], gone["granted_before"], gone["granted_after"]) == (
        str(mail),
        True,
        False,
    )
    assert {(each["before"], each["after"]) for each in gone["tools"]} == {
        ("allow", "deny")
    }
    assert gone["tools"][0]["changed_by"]["kind"] == "connector.grant_revoked"
    none = await root.get(f"/api/audit/agents/{uuid4()}/decisions/difference?since=0")
    assert none.status == 404


async def test_no_tool_is_made_up_for_a_difference_of_decisions(
    root: Caller, ada: Caller, setting: Setting, agent: UUID, tracker: UUID
) -> None:
    observed = await setting.connector(ada, granted_to=[agent])
    await setting.lists(observed, "read_1")
    unheld = await setting.connector(ada)
    connectors = (tracker, observed, unheld)
    before = await put(ada, agent, *(rule(each, "read", "ask") for each in connectors))
    rules = [rule(each, "read_*", "allow") for each in connectors]
    after = await put(ada, agent, *rules)
    query = f"?since={before.position}&until={after.position}"
    path = f"/api/audit/agents/{agent}/decisions/difference{query}"

    compared = (await root.get(path)).data
    named = (await root.get(f"{path}&tools=read,read_all")).data

    assert [
        (each["connector_id"], [tool["tool"] for tool in each["tools"]])
        for each in compared["connectors"]
    ] == [(str(observed), ["read_1"])]
    assert compared["not_observed"] == [str(tracker)]
    assert compared["added"] == sorted(rules, key=lambda each: each["connector_id"])
    assert {each["tool_pattern"] for each in compared["removed"]} == {"read"}
    assert len(compared["removed"]) == 3
    assert compared["unchanged"] == 0
    tools = {each["connector_id"]: each["tools"] for each in named["connectors"]}
    decisions = {
        each["tool"]: (each["before"], each["after"]) for each in tools[str(tracker)]
    }
    assert decisions == {"read": ("ask", "deny"), "read_all": ("deny", "allow")}


async def test_history_is_for_superusers_and_auditors_on_record(
    callers: Callers, resources: Resources, setting: Setting
) -> None:
    ada = await callers.user("ada")
    auditor = await callers.user("olga", "auditor")
    agent = await setting.agent(ada)
    connector = await setting.connector(ada)
    paths = [
        f"/api/audit/aggregates/{agent}",
        f"/api/audit/aggregates/{agent}/difference?since=0",
        f"/api/audit/connectors/{connector}/exposure?since=0",
        f"/api/audit/agents/{agent}/decisions/difference?since=0",
    ]
    before = (await resources.log.head()).position

    assert [(await ada.get(each)).status for each in paths] == [403] * 4
    assert [(await auditor.get(each)).status for each in paths] == [200] * 4

    recorded = await read_events(resources.log, after=before)
    assert [each.event.operation for each in recorded] == [
        "get_aggregate",
        "get_aggregate_difference",
        "get_connector_exposure",
        "get_decisions_difference",
    ]
    assert recorded[1].event.asked == {"aggregate_id": str(agent), "since": "0"}
