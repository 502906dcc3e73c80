"""Operation 1 over HTTP: what it answers, and what it refuses."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.support.callers import Caller, Callers
from tests.support.tool_rules.setting import Setting, put, rule


async def test_first_rules_of_an_agent(
    setting: Setting, ada: Caller, agent: UUID, tracker: UUID
) -> None:
    reply = await put(
        ada, agent, rule(tracker, "write_*", "ask"), rule(tracker, "read_*", "allow")
    )

    rules = [rule(tracker, "read_*", "allow"), rule(tracker, "write_*", "ask")]
    assert (reply.status, reply.message) == (200, "tool rules replaced")
    assert reply.data == {
        "agent_id": str(agent),
        "version": 2,
        "rules": rules,
        "added": rules,
        "removed": [],
        "unchanged": 0,
        "warnings": [],
    }
    assert reply.headers["ETag"] == '"2"'
    assert reply.position == (await setting.resources.log.head()).position


async def test_batch_is_the_complete_list_of_the_connectors_it_names(
    setting: Setting, ada: Caller, agent: UUID, tracker: UUID
) -> None:
    mail = await setting.connector(ada, granted_to=[agent])
    await put(
        ada,
        agent,
        rule(tracker, "read_*", "allow"),
        rule(tracker, "write_*", "ask"),
        rule(mail, "*", "ask"),
    )

    reply = await put(
        ada, agent, rule(tracker, "read_*", "allow"), rule(tracker, "write_*", "deny")
    )

    assert reply.data["added"] == [rule(tracker, "write_*", "deny")]
    assert reply.data["removed"] == [rule(tracker, "write_*", "ask")]
    assert reply.data["unchanged"] == 1
    assert sorted(reply.data["rules"], key=str) == sorted(
        [
            rule(mail, "*", "ask"),
            rule(tracker, "read_*", "allow"),
            rule(tracker, "write_*", "deny"),
        ],
        key=str,
    )


async def test_empty_batch_clears_the_agent(
    ada: Caller, agent: UUID, tracker: UUID
) -> None:
    await put(ada, agent, rule(tracker, "read_*", "allow"))

    reply = await put(ada, agent)

    assert (reply.status, reply.message) == (200, "tool rules replaced")
    assert reply.data["rules"] == reply.data["added"] == []
    assert reply.data["removed"] == [rule(tracker, "read_*", "allow")]
    assert (reply.data["version"], reply.data["unchanged"]) == (3, 0)


async def test_same_rules_again_append_nothing_and_say_so(
    setting: Setting, ada: Caller, agent: UUID, tracker: UUID
) -> None:
    await put(ada, agent, rule(tracker, "b", "allow"), rule(tracker, "a", "deny"))
    head = await setting.resources.log.head()

    reply = await put(
        ada,
        agent,
        rule(tracker, "a", "deny"),
        rule(tracker, "b", "allow"),
        rule(tracker, "a", "deny"),
    )

    assert (reply.status, reply.message) == (200, "agent already had these tool rules")
    assert reply.data["added"] == reply.data["removed"] == []
    assert (reply.data["version"], reply.data["unchanged"]) == (2, 2)
    assert "X-Event-Position" not in reply.headers
    assert await setting.resources.log.head() == head


async def test_warnings_name_shadowed_rules_and_connectors_not_granted(
    setting: Setting, ada: Caller, agent: UUID
) -> None:
    tracker = await setting.connector(ada)

    reply = await put(
        ada,
        agent,
        rule(tracker, "*delete*", "allow"),
        rule(tracker, "*delete**", "deny"),
    )

    assert reply.status == 200
    not_granted, shadowed = reply.data["warnings"]
    assert not_granted["code"] == "connector_not_granted"
    assert not_granted["connector_id"] == str(tracker)
    assert shadowed == {
        "code": "rule_shadowed",
        "message": "allow '*delete*' has no effect: deny '*delete**' is stronger and "
        "matches every tool that it matches",
        **rule(tracker, "*delete*", "allow"),
        "shadowed_by": {"tool_pattern": "*delete**", "stance": "deny"},
        "suggestion": None,
    }


async def test_owner_is_shown_only_the_connectors_named(
    setting: Setting, ada: Caller, owner: Caller, agent: UUID
) -> None:
    mail = await setting.connector(ada, granted_to=[agent])
    tracker = await setting.connector(owner, granted_to=[agent])
    await put(ada, agent, rule(mail, "*", "allow"), rule(tracker, "*", "allow"))

    reply = await put(owner, agent, rule(tracker, "*", "ask"))

    assert reply.status == 200
    assert reply.data["rules"] == [rule(tracker, "*", "ask")]
    assert reply.data["removed"] == [rule(tracker, "*", "allow")]
    assert str(mail) not in reply.body.decode()


async def test_stale_version_is_refused_with_the_current_one(
    ada: Caller, agent: UUID, tracker: UUID
) -> None:
    first = await put(ada, agent, rule(tracker, "a", "allow"), If_Match='"0"')

    stale = await put(ada, agent, rule(tracker, "b", "allow"), If_Match='"1"')
    fresh = await put(
        ada, agent, rule(tracker, "b", "allow"), If_Match=first.headers["ETag"]
    )

    assert (stale.status, stale.headers["ETag"]) == (412, '"2"')
    assert (fresh.status, fresh.data["version"]) == (200, 3)


async def test_two_stances_on_one_pattern_name_both_rules(
    ada: Caller, agent: UUID, tracker: UUID
) -> None:
    shouted = {**rule(tracker, "a", "deny"), "connector_id": str(tracker).upper()}

    reply = await put(
        ada, agent, rule(tracker, "b", "allow"), rule(tracker, "a", "allow"), shouted
    )

    assert reply.status == 422
    assert reply.data["errors"] == [
        {
            "path": "rules[2].stance",
            "message": "rules[1] gives this connector and pattern another stance",
        }
    ]


async def test_an_agent_has_at_most_ten_thousand_rules(
    setting: Setting, ada: Caller, agent: UUID
) -> None:
    for _ in range(10):
        tracker = await setting.connector(ada, granted_to=[agent])
        full = [rule(tracker, f"tool_{number}", "allow") for number in range(1000)]
        assert (await put(ada, agent, *full)).status == 200
    another = await setting.connector(ada, granted_to=[agent])

    over = await put(ada, agent, rule(another, "x", "allow"))
    fewer = await put(ada, agent, rule(tracker, "x", "allow"))

    assert (over.status, over.code) == (422, "too_many_rules")
    assert fewer.status == 200


async def test_unknown_and_retired_connectors_are_named_to_full_management(
    setting: Setting, ada: Caller, agent: UUID, tracker: UUID
) -> None:
    retired = await setting.connector(ada, granted_to=[agent])
    await setting.change(retired, lambda connector: connector.retire())
    unknown = uuid4()
    head = await setting.resources.log.head()

    reply = await put(
        ada,
        agent,
        rule(tracker, "a", "allow"),
        rule(unknown, "a", "allow"),
        rule(retired, "a", "allow"),
        rule(unknown, "b", "allow"),
    )

    assert (reply.status, reply.code) == (422, "unknown_connector")
    assert [each["path"] for each in reply.data["errors"]] == [
        "rules[1].connector_id",
        "rules[2].connector_id",
        "rules[3].connector_id",
    ]
    assert not await setting.changed_rules_after(head.position)


@pytest.mark.parametrize("rules_each", [0, 2])
async def test_refusals_tell_nothing_about_what_exists(
    callers: Callers,
    setting: Setting,
    ada: Caller,
    agent: UUID,
    tracker: UUID,
    rules_each: int,
) -> None:
    eve = await callers.user("eve")
    retired = await setting.connector(ada, granted_to=[agent])
    await setting.change(retired, lambda connector: connector.retire())
    own = await setting.connector(eve)
    offered = await setting.connector(eve)
    await setting.change(
        offered,
        lambda connector: connector.consent_to_grant(
            agent, by_connector=True, by_agent=False
        ),
    )

    answers = set()
    for each in (agent, uuid4(), tracker):
        for connector in (tracker, uuid4(), retired, own, offered, agent, each):
            rules = [rule(connector, "a", "allow")] * rules_each
            reply = await put(eve, each, *rules, X_Request_Id="same")
            assert reply.status == 403
            answers.add((reply.body, tuple(sorted(_telling(reply.headers)))))

    assert len(answers) == 1


def _telling(headers: Any) -> list[tuple[str, str]]:
    return [(name, value) for name, value in headers.items() if name != "Date"]


async def test_refusal_names_each_rule_that_is_not_the_callers(
    setting: Setting, ada: Caller, owner: Caller, agent: UUID
) -> None:
    own = await setting.connector(owner, granted_to=[agent])
    foreign = await setting.connector(ada, granted_to=[agent])
    head = await setting.resources.log.head()

    reply = await put(
        owner,
        agent,
        rule(own, "a", "allow"),
        rule(foreign, "a", "allow"),
        rule(own, "b", "allow"),
        rule(foreign, "b", "allow"),
    )

    assert (reply.status, reply.message) == (
        403,
        "the caller can't manage a referenced connector on this agent",
    )
    assert [each["path"] for each in reply.data["errors"]] == [
        "rules[1].connector_id",
        "rules[3].connector_id",
    ]
    assert not await setting.changed_rules_after(head.position)
