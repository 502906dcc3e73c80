"""Removing an agent's rules for one connector."""

from uuid import UUID, uuid4

import pytest

from service.connectors.aggregate import Connector
from tests.support.callers import Caller, Callers, Reply
from tests.support.reading import read_events
from tests.support.tool_rules.setting import Setting, path, put, rule


async def remove(caller: Caller, agent: UUID, connector: UUID, **headers: str) -> Reply:
    return await caller.delete(f"{path(agent)}/connectors/{connector}", **headers)


async def test_a_manager_removes_one_connectors_rules(
    setting: Setting, ada: Caller, agent: UUID, tracker: UUID
) -> None:
    mail = await setting.connector(ada, granted_to=[agent])
    put_rules = await put(
        ada, agent, rule(tracker, "a", "allow"), rule(mail, "b", "ask")
    )

    reply = await remove(ada, agent, tracker)

    assert (reply.status, reply.message) == (200, "tool rules removed")
    # Both connectors have the same slug.
    (warning,) = reply.data.pop("warnings")
    assert (warning["code"], warning["connector_id"]) == ("names_change", str(mail))
    assert reply.data == {
        "agent_id": str(agent),
        "connector_id": str(tracker),
        "version": 3,
        "removed": [rule(tracker, "a", "allow")],
    }
    assert reply.headers["ETag"] == '"3"'
    left = await ada.get(path(agent), X_Min_Position=str(reply.position))
    assert left.data["rules"] == [rule(mail, "b", "ask")]
    (event,) = await read_events(
        setting.resources.log, after=put_rules.position, upto=reply.position, limit=9
    )
    assert (event.topic, event.event.rules) == (
        "tool_rules.replaced",
        {str(tracker): {}},
    )
    assert event.event.sentence(str) == (
        f"removed the tool rules of agent {agent} for {tracker}"
    )


async def test_removing_again_does_nothing(
    ada: Caller, agent: UUID, tracker: UUID
) -> None:
    for connector in (tracker, uuid4()):
        never = await remove(ada, agent, connector)
        assert (never.status, never.data["version"]) == (200, 0)
    await put(ada, agent, rule(tracker, "a", "allow"))
    await remove(ada, agent, tracker)

    again = await remove(ada, agent, tracker)

    assert (again.status, again.message) == (
        200,
        "agent had no tool rules for this connector",
    )
    assert "X-Event-Position" not in again.headers


@pytest.mark.parametrize("by", ["owner", "manager"])
@pytest.mark.parametrize("state", ["revoked", "retired"])
async def test_owner_and_manager_remove_rules_whatever_became_of_the_grant(
    callers: Callers, setting: Setting, by: str, state: str
) -> None:
    both = {"manager": await callers.user("ada"), "owner": await callers.user("bob")}
    agent = await setting.agent(both["manager"])
    tracker = await setting.connector(both["owner"], granted_to=[agent])
    await put(both["manager"], agent, rule(tracker, "a", "allow"))

    def end(connector: Connector) -> None:
        if state == "revoked":
            connector.revoke_grant(agent)
        else:
            connector.retire()

    await setting.change(tracker, end)

    reply = await remove(both[by], agent, tracker)

    assert (reply.status, reply.message) == (200, "tool rules removed")


async def test_forbidden_and_missing_removals_are_refused_alike(
    setting: Setting, ada: Caller, owner: Caller, root: Caller, agent: UUID
) -> None:
    others = await setting.connector(ada, granted_to=[agent])
    await put(ada, agent, rule(others, "a", "allow"))
    own = await setting.connector(owner)

    refused = [
        await remove(owner, each, connector, X_Request_Id="same")
        for each in (agent, uuid4())
        for connector in (others, own, uuid4())
    ]

    assert {(each.status, each.body) for each in refused} == {(403, refused[0].body)}
    assert (await remove(root, uuid4(), others)).status == 404


async def test_if_match(ada: Caller, agent: UUID, tracker: UUID) -> None:
    await put(ada, agent, rule(tracker, "a", "allow"))

    stale = await remove(ada, agent, tracker, If_Match='"1"')
    fresh = await remove(ada, agent, tracker, If_Match='"2"')

    assert (stale.status, fresh.status) == (412, 200)
