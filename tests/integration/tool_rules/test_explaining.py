"""Explaining a decision, now and then."""

import gc
import tracemalloc
from urllib.parse import quote
from uuid import UUID, uuid4

import pytest

from projections.engine.progress import wait_for_position
from projections.engine.time_travel import as_of
from projections.tool_rules import explanation
from service.resources import Resources
from service.tool_rules.aggregate import ToolRules
from service.tool_rules.body import RULES_MAX
from tests.support.callers import Caller, Callers, Reply
from tests.support.scenario import Scenario
from tests.support.tool_rules.setting import Setting, path, put, rule


async def explain(
    caller: Caller, agent: UUID, connector: UUID, tool: str, **more: object
) -> Reply:
    query = f"connector_id={connector}&tool={quote(tool, safe='')}"
    query += "".join(f"&{name}={value}" for name, value in more.items())
    return await caller.get(f"{path(agent)}/explain?{query}")


async def test_every_rule_is_listed_with_what_it_did(
    setting: Setting, ada: Caller, agent: UUID, tracker: UUID
) -> None:
    granted_at = (await setting.resources.log.head()).position
    other = await setting.connector(ada, granted_to=[agent])
    written = await put(
        ada,
        agent,
        rule(tracker, "*", "allow"),
        rule(tracker, "delete_*", "ask"),
        rule(tracker, "*_all", "deny"),
        rule(other, "delete_repo", "deny"),
    )

    reply = await explain(ada, agent, tracker, "delete_repo")

    assert (reply.status, reply.message) == (200, "decision explained")
    origins = [reply.data[f"{each}_since"] for each in ("stance", "granted")]
    origins += [each["since"] for each in reply.data["rules"]]
    times = [each.pop("recorded_at") for each in origins]
    assert times[0] > times[1]
    since = {
        "position": written.position,
        "kind": "tool_rules.replaced",
        "actor": str(ada.user_id),
    }
    assert reply.data == {
        "agent_id": str(agent),
        "connector_id": str(tracker),
        "tool": "delete_repo",
        "explained_tool": "delete_repo",
        "stance": "ask",
        "stance_since": since,
        "looked_back_to": 0,
        "reason": "rule",
        "connector_exists": True,
        "granted": True,
        "definition": None,
        "granted_since": {
            "position": granted_at,
            "kind": "connector.granted_to_agent",
            "actor": "setting",
        },
        "rules": [
            {"tool_pattern": pattern, "stance": stance, "since": since, **did}
            for pattern, stance, did in (
                ("*", "allow", {"matched": True, "decisive": False}),
                ("*_all", "deny", {"matched": False, "decisive": False}),
                ("delete_*", "ask", {"matched": True, "decisive": True}),
            )
        ],
        "version": 2,
        "position": written.position,
    }


async def test_reasons(setting: Setting, ada: Caller, agent: UUID) -> None:
    held = await setting.connector(ada, granted_to=[agent])
    not_held = await setting.connector(ada)
    retired = await setting.connector(ada, granted_to=[agent])
    await put(
        ada, agent, *[rule(each, "a", "allow") for each in (held, not_held, retired)]
    )
    await setting.change(retired, lambda connector: connector.retire())

    answers = {}
    for name, connector, tool in (
        ("held", held, "a"),
        ("held, no match", held, "b"),
        ("not held", not_held, "a"),
        ("retired", retired, "a"),
        ("unknown", uuid4(), "a"),
        ("no connector", agent, "a"),
    ):
        data = (await explain(ada, agent, connector, tool)).data
        answers[name] = (data["stance"], data["reason"], data["connector_exists"])

    assert answers == {
        "held": ("allow", "rule", True),
        "held, no match": ("deny", "no_rule_matches", True),
        "not held": ("deny", "connector_not_granted", True),
        "retired": ("deny", "no_connector", False),
        "unknown": ("deny", "no_connector", False),
        "no connector": ("deny", "no_connector", False),
    }


async def test_decision_at_every_earlier_position(
    setting: Setting, ada: Caller, agent: UUID
) -> None:
    tracker = await setting.connector(ada)
    grant = f"/api/mcp/connectors/{tracker}/grants/agents/{agent}"
    moments = [
        (await put(ada, agent, rule(tracker, "read", "allow")), "deny"),
        (await ada.put(grant), "allow"),
        (await put(ada, agent, rule(tracker, "r*", "ask")), "ask"),
        (await ada.delete(grant), "deny"),
        (await ada.put(grant), "ask"),
        (await put(ada, agent), "deny"),
    ]

    for reply, stance in moments:
        then = await explain(ada, agent, tracker, "read", at=reply.position)
        assert (then.data["stance"], then.data["position"]) == (stance, reply.position)


@pytest.mark.thorough
@pytest.mark.usefixtures("client")
async def test_a_long_history_takes_no_more_memory_than_a_short_one(
    scenario: Scenario, resources: Resources
) -> None:
    agent, connector = uuid4(), uuid4()
    rules = ToolRules(agent_id=str(agent))

    async def peak_with_more_events() -> int:
        for number in range(10):
            patterns = [f"{number}_{pattern:0250}" for pattern in range(RULES_MAX)]
            rules.replace({str(connector): dict.fromkeys(patterns, "allow")})
            await scenario.given(rules)
        head = (await resources.log.head()).position
        await wait_for_position(resources.pool, ["tool_rules"], head, timeout_s=60)
        gc.collect()
        tracemalloc.start()
        try:
            async with resources.pool.connection() as db:
                facts = await explanation.facts_of(
                    await as_of(db, resources.log.mapper, head),
                    db,
                    agent_id=agent,
                    connector_id=connector,
                    tool="a",
                    sees_connector=True,
                )
            explained = await explanation.explain(facts, resources.pool.connection)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert len(explained["rules"]) == RULES_MAX
        return peak

    short = await peak_with_more_events()
    for _ in range(2):
        long = await peak_with_more_events()

    assert long < 1.5 * short


async def test_who_may_ask(
    callers: Callers,
    setting: Setting,
    ada: Caller,
    owner: Caller,
    root: Caller,
    agent: UUID,
) -> None:
    auditor = await callers.user("auditor", "auditor")
    stranger = await callers.user("stranger")
    tracker = await setting.connector(owner, granted_to=[agent])
    mail = await setting.connector(ada, granted_to=[agent])
    owned = await setting.connector(owner)
    written = await put(ada, agent, rule(tracker, "*", "ask"), rule(mail, "*", "ask"))

    async def asked(caller: Caller, connector: UUID) -> int:
        reply = await caller.get(
            f"{path(agent)}/explain?connector_id={connector}&tool=a",
            X_Min_Position=str(written.position),
        )
        return reply.status

    assert [await asked(each, mail) for each in (ada, root, auditor)] == [200] * 3
    assert [await asked(stranger, each) for each in (mail, tracker)] == [404] * 2
    assert await asked(owner, tracker) == 200
    assert [await asked(owner, each) for each in (mail, owned, uuid4())] == [404] * 3


async def test_malformed_queries(ada: Caller, agent: UUID) -> None:
    for query in (
        "",
        "?tool=a",
        "?connector_id=7&tool=a",
        "?connector_id={id}",
        "?connector_id={id}&tool=",
        "?connector_id={id}&tool=" + "a" * 257,
        "?connector_id={id}&tool=a&at=never",
    ):
        url = f"{path(agent)}/explain{query.replace('{id}', str(uuid4()))}"
        assert (await ada.get(url)).status == 400, query


async def test_tool_of_any_characters(ada: Caller, agent: UUID, tracker: UUID) -> None:
    await put(ada, agent, rule(tracker, "?*", "allow"))

    for tool in ("a b", "é", "*", "a\nb", "\U0001f600"):
        reply = await explain(ada, agent, tracker, tool)
        assert (reply.data["tool"], reply.data["stance"]) == (tool, "allow")
