"""Comparing decisions: equal to deciding tool by tool, and bounded."""

from collections.abc import Iterable
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.audit.history.decisions import FactsThen, differences
from service.errors import InvalidRequestError
from service.tool_rules import comparison
from service.tool_rules.comparison import COMPILING, MATCHING
from service.tool_rules.decision import decide, matching_rules

CONNECTOR = str(UUID(int=7))
patterns = st.text("ab*?", min_size=1, max_size=6)
stances = st.dictionaries(patterns, st.sampled_from(["allow", "ask", "deny"]))


def holding(rules: dict[str, str], *, granted: bool = True) -> FactsThen:
    return of_connectors({CONNECTOR: rules}, granted=granted)


def matched(patterns: Iterable[str]) -> list[str]:
    """Return a tool's name for each pattern, which few other patterns match."""
    return [each.replace("*", "x").replace("?", "x") for each in patterns]


def of_connectors(
    rules: dict[str, dict[str, str]], *, granted: bool = True
) -> FactsThen:
    return FactsThen(
        {connector: each for connector, each in rules.items() if each},
        {*rules} if granted else set(),
    )


@given(
    rules=st.tuples(stances, stances),
    granted=st.tuples(st.booleans(), st.booleans()),
    tools=st.lists(st.text("abx*?", min_size=1, max_size=6)),
)
def test_many_tools_are_decided_as_one_by_one(
    rules: tuple[dict[str, str], dict[str, str]],
    granted: tuple[bool, bool],
    tools: list[str],
) -> None:
    before, after = (
        holding(each, granted=held) for each, held in zip(rules, granted, strict=True)
    )

    names = {*tools, *matched(rules[0]), *matched(rules[1])}

    found = differences(before, after, names)

    decided = {
        name: [
            decide(
                matching_rules(each.rules.get(CONNECTOR, {}), name),
                granted=CONNECTOR in each.held,
            )
            for each in (before, after)
        ]
        for name in sorted(names)
    }
    assert [tool for each in found for tool in each.tools] == [
        (name, was, is_now) for name, (was, is_now) in decided.items() if was != is_now
    ]


def test_ten_thousand_ordinary_rules_are_compared() -> None:
    before = {f"service{n % 100}.tool{n}.*": "allow" for n in range(10_000)}
    after = {**before, "service7.tool7.*": "deny"}

    (found,) = differences(holding(before), holding(after), matched(before))

    assert [each.tool for each in found.tools] == ["service7.tool7.x"]


def test_as_many_rules_as_an_agent_can_have_are_decided_anew() -> None:
    """10,000 rules of 20 characters, and 1,000 tools of 20."""
    before = {f"{n:06}.*".rjust(20, "s"): "allow" for n in range(1000)}
    rules = {str(UUID(int=n)): before for n in range(10)}
    tools = [f"{n:06}.x".rjust(20, "s") for n in range(1000)]
    assert {len(each) for each in [*before, *tools]} == {20}

    found = differences(
        of_connectors(rules),
        of_connectors({each: dict.fromkeys(before, "deny") for each in rules}),
        tools,
    )

    assert [len(each.tools) for each in found] == [1000] * 10


def test_rules_made_to_be_slow_are_refused() -> None:
    slow = {f"*{'a' * 240}{n}*": "allow" for n in range(1000)}

    with pytest.raises(InvalidRequestError, match="too complicated to compare") as why:
        differences(holding(slow), holding(dict.fromkeys(slow, "deny")), matched(slow))

    assert why.value.code == "comparison_too_large"


def test_a_comparison_up_to_the_bound_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Given two rules of 5 characters, one of which changes, and three names of 5.
    before, after = (
        {"aaaa*": "allow", "bbbb*": "ask"},
        {"aaaa*": "deny", "bbbb*": "ask"},
    )
    # When the changed one is compared with all names, the other with what it affects.
    takes = 5 * (3 * 5 + COMPILING) + 3 * MATCHING + 5 * (5 + COMPILING) + MATCHING

    names = ["other", "aaaax", "bbbbx"]
    monkeypatch.setattr(comparison, "WORK_MAX", takes)
    (found,) = differences(holding(before), holding(after), names)
    assert [each.tool for each in found.tools] == ["aaaax"]

    monkeypatch.setattr(comparison, "WORK_MAX", takes - 1)
    with pytest.raises(InvalidRequestError, match="explain the decisions on single"):
        differences(holding(before), holding(after), names)


def test_compiling_many_long_patterns_is_charged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = {f"{'a' * 200}{n}*": "allow" for n in range(1000)}
    monkeypatch.setattr(comparison, "WORK_MAX", COMPILING * sum(map(len, before)))

    # Every first character rules all of them out: only compiling costs anything.
    with pytest.raises(InvalidRequestError, match="too complicated to compare"):
        differences(holding(before), holding({}), ["b"])


def test_a_comparison_skips_connectors_that_are_not_held() -> None:
    slow = {f"*{'a' * 240}{n}*": "allow" for n in range(1000)}

    held = holding(slow, granted=False)

    assert differences(held, held, ["a" * 240]) == []
