"""Explanations at every position, and what a fold of all events says."""

from itertools import product
from typing import Any

import pytest

from projections.tool_rules import history, look_back
from service.resources import Resources
from tests.support.callers import Caller, Callers
from tests.support.reading import read_events
from tests.support.rebuilding import expect_rebuild_equals_live
from tests.support.scenario import Scenario
from tests.support.tool_rules.deciding_history import (
    TOOLS,
    DecidingHistory,
    Fold,
)
from tests.support.tool_rules.setting import path

STEPS = 60


@pytest.fixture
async def root(callers: Callers) -> Caller:
    return await callers.user("root", "superuser")


def positions_of(explained: dict[str, Any]) -> dict[str, Any]:
    def position(origin: dict[str, Any] | None) -> int | None:
        return origin["position"] if origin else None

    return {
        "stance": explained["stance"],
        "stance_since": position(explained["stance_since"]),
        "granted": explained["granted"],
        "granted_since": position(explained["granted_since"]),
        "definition": explained["definition"],
        "rules": {
            each["tool_pattern"]: (each["stance"], position(each["since"]))
            for each in explained["rules"]
        },
    }


def positions_in(fold: Fold) -> dict[str, Any]:
    return {
        "stance": fold.stance,
        "stance_since": fold.stance_since,
        "granted": fold.granted,
        "granted_since": fold.granted_since,
        "definition": fold.standing,
        "rules": fold.rules,
    }


@pytest.mark.parametrize("seed", range(4))
async def test_every_explanation_is_what_all_events_say(
    root: Caller, scenario: Scenario, resources: Resources, seed: int
) -> None:
    some = DecidingHistory(scenario, seed)
    await some.begin()
    await some.go_on(STEPS)
    await some.end()
    await some.go_on(STEPS // 4)
    events = await read_events(resources.log)
    head = events[-1].position
    moments = [*range(head, 3, -7), head]

    for agent_id, connector_id, tool, at in product(
        some.agent_ids, some.connector_ids, TOOLS, moments
    ):
        query = f"connector_id={connector_id}&tool={tool}&at={at}"
        reply = await root.get(f"{path(agent_id)}/explain?{query}")

        fold = Fold(agent_id, connector_id, tool)
        fold.fold(each for each in events if each.position <= at)
        assert positions_of(reply.data) == positions_in(fold), (tool, at)
        assert reply.data["looked_back_to"] == 0


async def test_a_history_too_long_to_look_at_says_how_far_was_looked(
    root: Caller,
    scenario: Scenario,
    resources: Resources,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(history, "SPANS_MAX", 3)
    some = DecidingHistory(scenario, seed=11)
    await some.begin()
    await some.go_on(2 * STEPS)
    events = await read_events(resources.log)
    head = events[-1].position

    outcomes = set()
    for agent_id, tool, at in product(some.agent_ids, TOOLS, range(head, 3, -5)):
        query = f"connector_id={some.connector_ids[0]}&tool={tool}&at={at}"
        data = (await root.get(f"{path(agent_id)}/explain?{query}")).data

        fold = Fold(agent_id, some.connector_ids[0], tool)
        fold.fold(each for each in events if each.position <= at)
        expected, found = positions_in(fold), positions_of(data)
        truth, said = expected.pop("stance_since"), found.pop("stance_since")
        assert found.pop("granted_since") == expected.pop("granted_since")
        assert found == expected
        if (truth or 0) > data["looked_back_to"]:
            assert said == truth
        else:
            assert said is None
        outcomes.add((said is None, data["looked_back_to"] > 0))
    assert {(True, True), (False, True), (False, False)} <= outcomes


async def test_rules_too_many_to_match_are_not_looked_at(
    root: Caller,
    scenario: Scenario,
    resources: Resources,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    some = DecidingHistory(scenario, seed=3)
    await some.begin()
    await some.go_on(2 * STEPS)
    events = await read_events(resources.log)
    asked = (
        f"{path(some.agent_ids[0])}/explain?"
        f"connector_id={some.connector_ids[0]}&tool=other"
    )
    monkeypatch.setattr(look_back, "WORK_MAX", 0)

    data = (await root.get(asked)).data

    fold = Fold(some.agent_ids[0], some.connector_ids[0], "other").fold(events)
    assert data["stance"] == fold.stance
    assert data["looked_back_to"] > 0
    assert data["stance_since"] is None or (
        data["stance_since"]["position"] == fold.stance_since
    )


@pytest.mark.usefixtures("root")
async def test_rebuild_gives_the_same_rows(
    scenario: Scenario, resources: Resources
) -> None:
    some = DecidingHistory(scenario, seed=5)
    await some.begin()
    await some.go_on(2 * STEPS)
    await some.end()

    await expect_rebuild_equals_live(resources, "tool_rules")
