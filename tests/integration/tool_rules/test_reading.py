"""Reading an agent's rules, now and then, and a connector's."""

from typing import Any
from uuid import UUID, uuid4

from tests.support.callers import Caller, Callers, Reply
from tests.support.reading import read_events
from tests.support.tool_rules.setting import Setting, path, put, rule


async def read(caller: Caller, agent: UUID, after: Reply, query: str = "") -> Reply:
    """Read once everything up to an answer is reflected."""
    position = after.headers["X-Event-Position"]
    return await caller.get(path(agent) + query, X_Min_Position=position)


async def test_manager_reads_all_rules_sorted(
    setting: Setting, ada: Caller, owner: Caller, agent: UUID
) -> None:
    tracker = await setting.connector(owner, granted_to=[agent])
    mail = await setting.connector(ada, granted_to=[agent])
    written = await put(
        ada,
        agent,
        rule(tracker, "b", "ask"),
        rule(mail, "*", "allow"),
        rule(tracker, "a", "deny"),
    )

    reply = await read(ada, agent, written)

    assert reply.status == 200
    assert reply.data == {
        "agent_id": str(agent),
        "version": 2,
        "position": written.position,
        "rules": written.data["rules"],
        "warnings": [],
    }
    assert reply.headers["ETag"] == written.headers["ETag"]
    assert reply.position >= written.position


async def test_agent_without_rules(ada: Caller, agent: UUID) -> None:
    reply = await ada.get(path(agent))

    assert (reply.status, reply.data["version"], reply.data["rules"]) == (200, 0, [])
    assert reply.headers["ETag"] == '"0"'


async def test_warnings_follow_the_grant(
    ada: Caller, agent: UUID, tracker: UUID
) -> None:
    await put(ada, agent, rule(tracker, "read", "allow"), rule(tracker, "*", "deny"))

    revoked = await ada.delete(f"/api/mcp/connectors/{tracker}/grants/agents/{agent}")
    reply = await read(ada, agent, revoked)

    assert [each["code"] for each in reply.data["warnings"]] == [
        "connector_not_granted",
        "rule_shadowed",
    ]


async def test_who_reads_what(
    callers: Callers, setting: Setting, ada: Caller, owner: Caller, agent: UUID
) -> None:
    tracker = await setting.connector(owner, granted_to=[agent])
    never_granted = await setting.connector(owner)
    mail = await setting.connector(ada, granted_to=[agent])
    rules = [rule(each, "*", "ask") for each in (tracker, never_granted, mail)]
    written = await put(ada, agent, *rules)
    everyone = {
        "manager": ada,
        "owner": owner,
        "superuser": await callers.user("root", "superuser"),
        "auditor": await callers.user("auditor", "auditor"),
        "runtime": await callers.user("runtime", "runtime"),
        "stranger": await callers.user("stranger"),
    }

    seen: dict[str, Any] = {}
    for name, caller in everyone.items():
        reply = await read(caller, agent, written)
        seen[name] = len(reply.data["rules"]) if reply.status == 200 else reply.status

    assert seen == {
        "manager": 3,
        "owner": 1,
        "superuser": 3,
        "auditor": 3,
        "runtime": 404,
        "stranger": 404,
    }
    assert (await read(owner, agent, written)).data["rules"] == [
        rule(tracker, "*", "ask")
    ]
    assert (await callers.anonymous().get(path(agent))).status == 401


async def test_an_owner_whose_grant_is_revoked_can_read_none_of_the_history(
    setting: Setting, ada: Caller, owner: Caller, agent: UUID
) -> None:
    tracker = await setting.connector(owner, granted_to=[agent])
    written = await put(owner, agent, rule(tracker, "*", "ask"))
    assert (await read(owner, agent, written)).status == 200

    revoked = await ada.delete(f"/api/mcp/connectors/{tracker}/grants/agents/{agent}")

    assert (await read(owner, agent, revoked)).status == 404
    at = f"?at={written.position}"
    assert (await read(owner, agent, revoked, at)).status == 404


async def test_unknown_agent_is_the_same_404_for_everyone(
    callers: Callers, root: Caller, agent: UUID
) -> None:
    eve = await callers.user("eve")

    bodies = {
        (await caller.get(path(each), X_Request_Id="same")).body
        for caller, each in [(root, uuid4()), (eve, uuid4()), (eve, agent)]
    }

    assert len(bodies) == 1


async def test_rules_at_a_position_and_at_a_time(
    setting: Setting, ada: Caller, agent: UUID, tracker: UUID
) -> None:
    first = await put(ada, agent, rule(tracker, "a", "allow"))
    second = await put(ada, agent, rule(tracker, "b", "ask"))
    cleared = await put(ada, agent)
    recorded = await read_events(setting.resources.log, after=0, upto=2**40, limit=1000)
    times = {each.position: each.recorded_at for each in recorded}

    for written in (first, second, cleared):
        moment = times[written.position].strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        for at in (str(written.position), moment):
            reply = await ada.get(f"{path(agent)}?at={at}")
            assert reply.status == 200
            assert reply.data["rules"] == written.data["rules"]
            assert reply.data["version"] == written.data["version"]
            assert reply.data["position"] == written.position
            assert reply.data["warnings"] is None
    before = await ada.get(f"{path(agent)}?at={first.position - 2}")
    assert (before.status, before.data["version"], before.data["rules"]) == (200, 0, [])


async def test_malformed_queries(ada: Caller, agent: UUID) -> None:
    for query in (
        "?at=",
        "?at=yesterday",
        "?at=-1",
        "?at=999999",
    ):
        assert (await ada.get(path(agent) + query)).status == 400, query


async def test_connectors_owner_lists_rules_of_every_agent_on_it(
    setting: Setting, ada: Caller, owner: Caller
) -> None:
    agents = sorted([await setting.agent(ada) for _ in range(3)], key=str)
    tracker = await setting.connector(owner, granted_to=agents[:2])
    for agent in agents:
        written = await put(
            ada, agent, rule(tracker, "b:*", "ask"), rule(tracker, "B/?", "allow")
        )
    everything = [
        (str(agent), pattern, stance)
        for agent in agents
        for pattern, stance in (("B/?", "allow"), ("b:*", "ask"))
    ]

    listed: list[tuple[str, str, str]] = []
    after = ""
    while True:
        page = await owner.get(
            f"/api/mcp/connectors/{tracker}/tools?limit=4{after}",
            X_Min_Position=str(written.position),
        )
        listed += [
            (each["agent_id"], each["tool_pattern"], each["stance"])
            for each in page.data["rules"]
        ]
        if page.data["end_cursor"] is None:
            break
        after = f"&after={page.data['end_cursor'].replace('?', '%3F')}"

    assert listed == everything
    assert page.data["rules"][-1]["position"] == written.position


async def test_who_lists_the_rules_on_a_connector(
    callers: Callers, setting: Setting, ada: Caller, owner: Caller, agent: UUID
) -> None:
    auditor = await callers.user("auditor", "auditor")
    tracker = await setting.connector(owner, granted_to=[agent])
    position = str((await setting.resources.log.head()).position)
    url = f"/api/mcp/connectors/{tracker}/tools"

    for caller, status in ((owner, 200), (auditor, 200), (ada, 404)):
        assert (await caller.get(url, X_Min_Position=position)).status == status
    assert (await owner.get(f"/api/mcp/connectors/{uuid4()}/tools")).status == 404
    for query in ("after=x", "after=%00", f"after={agent}/", "limit=0", "limit=101"):
        assert (await owner.get(f"{url}?{query}")).status == 400
