"""Previewing a replacement of tool rules: what would change, and nothing does."""

from uuid import UUID, uuid4

import pytest

from service.tool_rules import comparison
from service.tool_rules.comparison import (
    COMPILING,
    MATCHING,
)
from tests.support.callers import Caller, Callers
from tests.support.tool_rules.setting import Setting, path, put, rule


async def test_a_preview_shows_rules_and_decisions_that_would_change(
    setting: Setting, ada: Caller, agent: UUID, tracker: UUID
) -> None:
    await setting.lists(tracker, "list", "read_all")
    before = await put(
        ada, agent, rule(tracker, "read_*", "allow"), rule(tracker, "list", "ask")
    )
    batch = {"rules": [rule(tracker, "read_*", "ask"), rule(tracker, "list", "ask")]}

    reply = await ada.post(f"{path(agent)}/preview", batch)

    assert reply.status == 200
    assert reply.data == {
        "agent_id": str(agent),
        "version": before.data["version"],
        "added": [rule(tracker, "read_*", "ask")],
        "removed": [rule(tracker, "read_*", "allow")],
        "unchanged": 1,
        "connectors": [
            {
                "connector_id": str(tracker),
                "tools": [{"tool": "read_all", "before": "allow", "after": "ask"}],
            }
        ],
        "not_observed": [],
        "recorded": {
            "since": reply.data["recorded"]["since"],
            "calls": 0,
            "changed": 0,
            "is_complete": True,
            "examples": [],
        },
        "warnings": [],
    }
    assert reply.headers["ETag"] == before.headers["ETag"]
    assert "X-Event-Position" not in reply.headers
    after = await ada.get(path(agent), X_Min_Position=str(before.position))
    assert after.data["rules"] == before.data["rules"]
    assert after.data["version"] == before.data["version"]


async def test_a_preview_for_an_agent_without_rules_is_based_on_version_0(
    ada: Caller, agent: UUID, tracker: UUID
) -> None:
    reply = await ada.post(
        f"{path(agent)}/preview", {"rules": [rule(tracker, "a", "allow")]}
    )

    assert (reply.status, reply.data["version"]) == (200, 0)
    assert reply.data["added"] == [rule(tracker, "a", "allow")]


async def test_an_empty_batch_shows_only_granted_connectors_decisions(
    setting: Setting, ada: Caller, agent: UUID
) -> None:
    held = await setting.connector(ada, granted_to=[agent])
    not_held = await setting.connector(ada)
    for each in (held, not_held):
        await setting.lists(each, "a", "b")
    await put(ada, agent, rule(held, "a", "allow"), rule(not_held, "b", "allow"))

    reply = await ada.post(f"{path(agent)}/preview", {"rules": []})

    assert len(reply.data["removed"]) == 2
    assert reply.data["connectors"] == [
        {
            "connector_id": str(held),
            "tools": [{"tool": "a", "before": "allow", "after": "deny"}],
        }
    ]


async def test_a_preview_is_refused_as_the_replacement_would_be(
    callers: Callers, ada: Caller, agent: UUID, tracker: UUID
) -> None:
    eve = await callers.user("eve")
    batches = [[rule(tracker, "a", "allow")], [rule(uuid4(), "a", "allow")], []]

    for caller in (ada, eve):
        for batch in batches:
            refused = await caller.post(f"{path(agent)}/preview", {"rules": batch})
            replaced = await put(caller, agent, *batch)
            if replaced.status != 200:
                assert (refused.status, refused.data["code"]) == (
                    replaced.status,
                    replaced.data["code"],
                )
            else:
                assert refused.status == 200


async def test_a_preview_on_an_outdated_version_is_refused(
    ada: Caller, agent: UUID
) -> None:
    reply = await ada.post(f"{path(agent)}/preview", {"rules": []}, If_Match='"7"')

    assert reply.status == 412


@pytest.mark.parametrize("pattern", ["mcp__github__*", "mcp__github__x", "read_?"])
async def test_no_tool_is_made_up_for_a_connector_that_was_never_observed(
    setting: Setting, ada: Caller, agent: UUID, tracker: UUID, pattern: str
) -> None:
    observed = await setting.connector(ada, granted_to=[agent])
    await setting.lists(observed, "read_1")
    not_held = await setting.connector(ada)
    batch = [rule(each, pattern, "allow") for each in (tracker, observed, not_held)]

    reply = await ada.post(f"{path(agent)}/preview", {"rules": batch})

    assert reply.data["not_observed"] == [str(tracker)]
    shown = {
        tool["tool"] for each in reply.data["connectors"] for tool in each["tools"]
    }
    assert shown == ({"read_1"} if pattern == "read_?" else set())


async def test_a_comparison_within_the_bound_is_answered_and_one_beyond_is_refused(
    setting: Setting,
    ada: Caller,
    agent: UUID,
    tracker: UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await setting.lists(tracker, "abx")
    # One pattern of three characters with one name of three.
    takes = 3 * (3 + COMPILING) + MATCHING

    monkeypatch.setattr(comparison, "WORK_MAX", takes)
    within = await ada.post(
        f"{path(agent)}/preview", {"rules": [rule(tracker, "ab*", "allow")]}
    )
    monkeypatch.setattr(comparison, "WORK_MAX", takes - 1)
    beyond = await ada.post(
        f"{path(agent)}/preview", {"rules": [rule(tracker, "ab*", "allow")]}
    )

    assert within.status == 200
    assert within.data["connectors"][0]["tools"] == [
        {"tool": "abx", "before": "deny", "after": "allow"}
    ]
    assert (beyond.status, beyond.data["code"]) == (422, "comparison_too_large")
    assert "preview fewer connectors" in beyond.message
    after = await ada.get(path(agent))
    assert (after.data["version"], after.data["rules"]) == (0, [])
