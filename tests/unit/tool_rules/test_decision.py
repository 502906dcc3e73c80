"""What rules come to for one tool."""

from collections.abc import Mapping
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.tool_rules.decision import Stance, decide, matching_rules

ALLOW, ASK, DENY = Stance.ALLOW, Stance.ASK, Stance.DENY
RULES = st.dictionaries(
    st.text("ab*?", min_size=1, max_size=4), st.sampled_from(list(Stance)), max_size=8
)


def decision(rules: Mapping[str, Stance], tool: str, *, granted: bool = True) -> Stance:
    return decide(matching_rules(rules, tool), granted=granted)


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({}, DENY),
        ({"write": ALLOW}, DENY),
        ({"read": ALLOW}, ALLOW),
        ({"read": ASK}, ASK),
        ({"read": DENY}, DENY),
        ({"read": ALLOW, "*": ASK}, ASK),
        ({"read": ALLOW, "*": DENY}, DENY),
        ({"read": ALLOW, "rea?": ASK, "*": DENY}, DENY),
        ({"read": ALLOW, "write": DENY}, ALLOW),
        ({"READ": ALLOW}, DENY),
    ],
)
def test_deny_beats_ask_beats_allow_and_no_match_is_deny(
    rules: dict[str, Stance], expected: Stance
) -> None:
    assert decision(rules, "read") is expected


@given(RULES, st.text("ab", max_size=4))
def test_connector_that_is_not_granted_is_denied_whatever_the_rules(
    rules: dict[str, Stance], tool: str
) -> None:
    assert decision(rules, tool, granted=False) is DENY


@given(RULES, st.text("ab", max_size=4), st.randoms())
def test_order_of_rules_never_changes_a_decision(
    rules: dict[str, Stance], tool: str, random: Random
) -> None:
    shuffled = list(rules.items())
    random.shuffle(shuffled)
    assert decision(dict(shuffled), tool) is decision(rules, tool)


@given(RULES, st.text("ab", max_size=4), st.text("ab*?", min_size=1, max_size=4))
def test_a_further_deny_never_permits_more(
    rules: dict[str, Stance], tool: str, pattern: str
) -> None:
    before = decision(rules, tool)
    after = decision({**rules, pattern: DENY}, tool)
    assert after in (before, DENY) or rules.get(pattern) is before
