"""Rules that never decide are found, and no others."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.tool_rules.decision import Stance, decide, matching_rules
from service.tool_rules.glob import Work, covers
from service.tool_rules.shadowing import WORK_MAX, Shadow, Unchecked, shadows

ALLOW, ASK, DENY = Stance.ALLOW, Stance.ASK, Stance.DENY
RULES = st.dictionaries(
    st.text("ab*?", min_size=1, max_size=4), st.sampled_from(list(Stance)), max_size=8
)
WORDS = ["".join(word) for n in range(6) for word in itertools.product("abx", repeat=n)]


def found(rules: dict[str, Stance]) -> list[Shadow | Unchecked]:
    return list(shadows(rules, Work(WORK_MAX)))


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({}, []),
        ({"*": ALLOW}, []),
        ({"*": ALLOW, "delete": DENY}, []),
        ({"*": DENY, "read": ALLOW}, [Shadow("read", ALLOW, "*", DENY)]),
        ({"*": ASK, "read": ALLOW}, [Shadow("read", ALLOW, "*", ASK)]),
        ({"*": DENY, "read": ASK}, [Shadow("read", ASK, "*", DENY)]),
        ({"*": ASK, "read": ASK}, []),
        ({"*": DENY, "read": DENY}, []),
        ({"re*": ASK, "*d": DENY, "read": ALLOW}, [Shadow("read", ALLOW, "*d", DENY)]),
        ({"re*": DENY, "r*d": ALLOW}, []),
        # Only both together leave nothing.
        ({"?": DENY, "??*": DENY, "?*": ALLOW}, []),
    ],
)
def test_shadows(rules: dict[str, Stance], expected: list[Shadow]) -> None:
    assert found(rules) == expected


@given(RULES)
def test_every_rule_that_one_stronger_rule_covers_is_found_once(
    rules: dict[str, Stance],
) -> None:
    order = [DENY, ASK, ALLOW]
    expected = {
        pattern
        for pattern, stance in rules.items()
        for other, stronger in rules.items()
        if order.index(stronger) < order.index(stance) and covers(other, pattern)
    }
    assert sorted(shadow.tool_pattern for shadow in found(rules)) == sorted(expected)  # type: ignore[union-attr]


@given(RULES)
def test_a_shadowed_rule_can_go_without_changing_a_decision(
    rules: dict[str, Stance],
) -> None:
    for shadow in found(rules):
        assert isinstance(shadow, Shadow)
        rest = {each: rules[each] for each in rules if each != shadow.tool_pattern}
        for word in WORDS:
            with_it = decide(matching_rules(rules, word), granted=True)
            assert decide(matching_rules(rest, word), granted=True) is with_it


def test_a_thousand_ordinary_rules_are_all_looked_at() -> None:
    allows = {f"service_{number:03}.read_record": ALLOW for number in range(500)}
    denies = {f"service_{number:03}.read_*": DENY for number in range(500)}
    assert len(found(allows | denies)) == 500


@pytest.mark.thorough
def test_hostile_rules_are_given_up_after_a_bounded_time() -> None:
    rules = {
        f"{'a*' * 126}{number:04}": (ALLOW, DENY)[number % 2] for number in range(1000)
    }
    started = time.process_time()

    warnings = found(rules)

    assert time.process_time() - started < 2
    assert isinstance(warnings[-1], Unchecked)
    assert warnings[-1].rules > 0
