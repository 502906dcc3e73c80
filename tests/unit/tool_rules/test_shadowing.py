"""Rules below a stronger one that matches everything, or the same, are found."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.tool_rules.decision import Stance, decide, matching_rules
from service.tool_rules.glob import matches
from service.tool_rules.shadowing import Shadow, shadows

ALLOW, ASK, DENY = Stance.ALLOW, Stance.ASK, Stance.DENY
RULES = st.dictionaries(
    st.text("a*?", min_size=1, max_size=4), st.sampled_from(list(Stance)), max_size=8
)
WORDS = ["".join(word) for n in range(6) for word in itertools.product("abx", repeat=n)]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({}, []),
        ({"*": ALLOW}, []),
        # A stronger rule that matches every tool.
        ({"*": DENY, "read": ALLOW}, [Shadow("read", ALLOW, "*", DENY)]),
        ({"***": ASK, "re*": ALLOW}, [Shadow("re*", ALLOW, "***", ASK)]),
        ({"*": DENY, "read": ASK}, [Shadow("read", ASK, "*", DENY)]),
        ({"*": DENY, "**": ALLOW}, [Shadow("**", ALLOW, "*", DENY)]),
        # A stronger rule that matches the same tools.
        ({"re**": DENY, "re*": ALLOW}, [Shadow("re*", ALLOW, "re**", DENY)]),
        ({"a*?b": DENY, "a?**b": ASK}, [Shadow("a?**b", ASK, "a*?b", DENY)]),
        # One of several stronger rules is named.
        ({"*": ASK, "a*": ALLOW, "a**": DENY}, [Shadow("a*", ALLOW, "a**", DENY)]),
        ({"a*": ASK, "a**": DENY, "*": DENY}, [Shadow("a*", ASK, "a**", DENY)]),
        # A rule that isn't stronger shadows nothing.
        ({"*": ALLOW, "delete": DENY}, []),
        ({"*": ASK, "read": ASK}, []),
        ({"a*": DENY, "a**": DENY}, []),
        # What a stronger rule shadows in another way isn't looked for.
        ({"re*": DENY, "read": ALLOW}, []),
        ({"re*": DENY, "rea*": ALLOW}, []),
        ({"?*": DENY, "read": ALLOW}, []),
        ({"?": DENY, "??*": DENY, "?*": ALLOW}, []),
        # Not the same tools.
        ({"a*": DENY, "A*": ALLOW}, []),
    ],
)
def test_shadows(rules: dict[str, Stance], expected: list[Shadow]) -> None:
    assert [*shadows(rules)] == expected


def test_patterns_are_the_same_if_and_only_if_they_match_the_same_names() -> None:
    """For all short patterns; b and x are characters that none of them asks for."""
    patterns = [
        "".join(p) for n in range(1, 5) for p in itertools.product("a*?", repeat=n)
    ]
    names = {p: frozenset(w for w in WORDS if matches(p, w)) for p in patterns}

    for pattern, other in itertools.permutations(patterns, 2):
        shadowed = [*shadows({pattern: DENY, other: ALLOW})] != []
        everything = not pattern.strip("*")
        assert shadowed == (everything or names[pattern] == names[other])


@given(RULES)
def test_a_shadowed_rule_can_go_without_changing_a_decision(
    rules: dict[str, Stance],
) -> None:
    found = [*shadows(rules)]
    assert len({shadow.tool_pattern for shadow in found}) == len(found)
    for shadow in found:
        rest = {each: rules[each] for each in rules if each != shadow.tool_pattern}
        for word in WORDS:
            with_it = decide(matching_rules(rules, word), granted=True)
            assert decide(matching_rules(rest, word), granted=True) is with_it
