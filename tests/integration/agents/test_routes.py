"""Agents over HTTP."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from service.resources import Resources
from tests.support.callers import Caller, Callers, Reply
from tests.support.rebuilding import tables

TRIAGE = {"name": "Triage", "description": "Sorts incoming issues"}
AGENTS = "/api/catalog/agents"


def without_request_id(reply: Reply) -> tuple[int, bytes]:
    request_id = reply.data["request_id"].encode()
    return reply.status, reply.body.replace(request_id, b"")


async def registered(caller: Caller) -> str:
    return str((await caller.post(AGENTS, TRIAGE)).data["id"])


def manager(agent_id: str, user: Caller) -> str:
    return f"{AGENTS}/{agent_id}/managers/{user.user_id}"


async def test_who_registers_an_agent_manages_and_finds_it(ada: Caller) -> None:
    made = await ada.post(AGENTS, TRIAGE)

    assert (made.status, made.message) == (201, "agent registered")
    assert made.data["manager_ids"] == [str(ada.user_id)]
    assert made.headers["ETag"] == '"1"'
    seen = {"X_Min_Position": str(made.position)}
    got = await ada.get(made.headers["Location"], **seen)
    assert (got.status, got.data) == (200, made.data)
    assert got.headers["ETag"] == '"1"'
    listed = await ada.get(AGENTS, **seen)
    assert listed.data == {"agents": [made.data], "end_cursor": None}


@pytest.mark.parametrize("name", ["x", "Zum Öffnen: „Zahl“", "نمی‌دانم", "👩‍🚀 agent"])
async def test_a_name_is_in_any_script(ada: Caller, name: str) -> None:
    made = await ada.post(AGENTS, {"name": name})

    assert (made.status, made.data["name"]) == (201, name)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "x" * 129}, "name"),
        ({"name": None}, "name"),
        ({"name": " Triage"}, "name"),
        ({"name": "Tri\nage"}, "name"),
        ({"name": "Tri\u202eage"}, "name"),
        ({"name": "Triage", "description": "x" * 2001}, "description"),
        ({"name": "Triage", "owner": "ada"}, "owner"),
    ],
)
async def test_a_body_that_breaks_a_rule_is_refused(
    ada: Caller, body: Any, path: str
) -> None:
    reply = await ada.post(AGENTS, body)

    assert (reply.status, reply.data["errors"][0]["path"]) == (422, path)


async def test_manager_is_appointed_and_dismissed(
    callers: Callers, ada: Caller
) -> None:
    bob = await callers.user("bob")
    agent_id = await registered(ada)
    path = manager(agent_id, bob)

    appointed = await ada.put(path)
    assert (appointed.status, appointed.message) == (200, "manager appointed")
    assert appointed.data["manager_ids"] == sorted([str(ada.user_id), str(bob.user_id)])
    seen = {"X_Min_Position": str(appointed.position)}
    assert (await bob.get(f"{AGENTS}/{agent_id}", **seen)).data == appointed.data

    again = await ada.put(path)
    assert (again.status, again.message) == (200, "user was already a manager")
    assert "X-Event-Position" not in again.headers

    assert (await ada.delete(path, If_Match='"1"')).status == 412
    dismissed = await bob.delete(manager(agent_id, ada))
    assert (dismissed.status, dismissed.message) == (200, "manager dismissed")
    seen = {"X_Min_Position": str(dismissed.position)}
    assert (await ada.get(f"{AGENTS}/{agent_id}", **seen)).status == 404
    assert (await ada.get(AGENTS, **seen)).data["agents"] == []

    nothing = await bob.delete(manager(agent_id, ada))
    assert (nothing.status, nothing.message) == (200, "user was not a manager")

    last = await bob.delete(path)
    assert (last.status, last.code) == (403, "forbidden")


async def test_two_managers_who_dismiss_each_other_at_once_leave_one(
    callers: Callers, ada: Caller, root: Caller
) -> None:
    bob = await callers.user("bob")
    for _ in range(10):
        agent_id = await registered(ada)
        await ada.put(manager(agent_id, bob))

        replies = await asyncio.gather(
            ada.delete(manager(agent_id, bob)), bob.delete(manager(agent_id, ada))
        )

        assert sorted(reply.status for reply in replies) == [200, 404]
        left = await root.put(manager(agent_id, root))
        assert len(left.data["manager_ids"]) == 2


async def test_superuser_and_auditor_see_all_and_only_one_of_them_manages(
    callers: Callers, ada: Caller, root: Caller, resources: Resources
) -> None:
    bob = await callers.user("bob")
    auditor = await callers.user("auditor", "auditor")
    agents = {await registered(ada), await registered(bob)}
    await tables(resources, "agents")

    for caller in (auditor, root):
        listed = (await caller.get(AGENTS)).data["agents"]
        assert {each["id"] for each in listed} == agents
        assert (await caller.get(f"{AGENTS}/{listed[0]['id']}")).data == listed[0]
    agent_id = agents.pop()
    assert (await auditor.put(manager(agent_id, auditor))).status == 403
    assert (await auditor.delete(manager(agent_id, ada))).status == 403
    assert (await root.put(manager(agent_id, root))).status == 200


async def test_a_hidden_agent_is_answered_like_none(
    callers: Callers, ada: Caller
) -> None:
    eve = await callers.user("eve")
    agent_id = await registered(ada)
    await ada.put(manager(agent_id, ada))

    for method, path in (
        ("GET", f"{AGENTS}/{{}}"),
        ("PUT", f"{AGENTS}/{{}}/managers/{eve.user_id}"),
        ("DELETE", f"{AGENTS}/{{}}/managers/{ada.user_id}"),
    ):
        hidden = await eve.call(method, path.format(agent_id))
        missing = await eve.call(method, path.format(uuid4()))
        assert hidden.status == 404
        assert without_request_id(hidden) == without_request_id(missing)


async def test_agents_are_listed_in_pages_each_once(ada: Caller) -> None:
    made = [await ada.post(AGENTS, TRIAGE) for _ in range(7)]
    seen = {"X_Min_Position": str(made[-1].position)}

    found: list[str] = []
    cursor = ""
    while True:
        page = (await ada.get(f"{AGENTS}?limit=3{cursor}", **seen)).data
        found += [each["id"] for each in page["agents"]]
        if page["end_cursor"] is None:
            break
        cursor = f"&after={page['end_cursor']}"
    assert found == sorted(each.data["id"] for each in made)


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "after=x", "of=ada"])
async def test_a_query_that_breaks_a_rule_is_refused(ada: Caller, query: str) -> None:
    assert (await ada.get(f"{AGENTS}?{query}")).status == 400


async def test_malformed_ids_are_refused(ada: Caller) -> None:
    reply = await ada.put(f"{AGENTS}/x/managers/y")

    assert (reply.status, reply.code) == (400, "malformed_request")
    assert [each["path"] for each in reply.data["errors"]] == ["agent_id", "user_id"]
