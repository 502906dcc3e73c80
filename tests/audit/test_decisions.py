"""Comparing decisions: equal to deciding tool by tool, and bounded."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.audit.history import decisions
from projections.audit.history.decisions import WORK_MAX, FactsThen, differences
from projections.engine.authored_events import Origin
from projections.tool_rules.origins import HoldingThen, RulesThen
from service.errors import InvalidRequestError
from service.tool_rules.glob import Work

CONNECTOR = str(UUID(int=7))
ORIGIN = Origin(
    position=1, recorded_at=datetime(2026, 1, 1, tzinfo=UTC), kind="", actor=None
)
patterns = st.text("ab*?", min_size=1, max_size=6)
stances = st.dictionaries(patterns, st.sampled_from(["allow", "ask", "deny"]))


def holding(rules: dict[str, str], *, granted: bool = True) -> FactsThen:
    return FactsThen(
        RulesThen({CONNECTOR: {each: (rules[each], ORIGIN) for each in rules}}),
        {CONNECTOR: HoldingThen(granted=granted, origin=ORIGIN)},
    )


@given(rules=stances, tools=st.lists(st.text("abx", min_size=1, max_size=6)))
def test_many_tools_are_decided_as_one_by_one(
    rules: dict[str, str], tools: list[str]
) -> None:
    held = holding(rules)

    decided = held.decisions(CONNECTOR, tools, Work(WORK_MAX))

    assert decided == {
        tool: held.rules.decide(CONNECTOR, tool, granted=True) for tool in tools
    }


def test_ten_thousand_ordinary_rules_are_compared() -> None:
    before = {f"service{n % 100}.tool{n}.*": "allow" for n in range(10_000)}
    after = {**before, "service7.tool7.*": "deny"}

    (found,) = differences(holding(before), holding(after), [])

    assert [each["tool"] for each in found["tools"]] == ["service7.tool7.x"]


@pytest.mark.slow
@pytest.mark.thorough
def test_rules_made_to_be_slow_are_refused() -> None:
    slow = {"*a" * 120 + f"*{n}?": "allow" for n in range(1000)}

    with pytest.raises(InvalidRequestError, match="too complicated to compare"):
        differences(holding(slow), holding(dict.fromkeys(slow, "deny")), [])


def test_building_many_long_patterns_is_charged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = {f"{'a' * 200}{n}": "allow" for n in range(1000)}
    monkeypatch.setattr(decisions, "WORK_MAX", 1000 * sum(map(len, before)) - 1)

    # Every first character rules all of them out: only building costs anything.
    with pytest.raises(InvalidRequestError, match="too complicated to compare"):
        differences(holding(before), holding({}), ["b"])


def test_a_connector_that_is_not_held_takes_no_comparison() -> None:
    slow = {"*a" * 120 + f"*{n}?": "allow" for n in range(1000)}

    held = holding(slow, granted=False)

    assert differences(held, held, ["a" * 240]) == []
