"""Patterns against names, and patterns against patterns."""

import itertools
import re
import time
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.tool_rules.glob import Globs, covers, matches

PATTERNS = st.text("abA-*?", min_size=1, max_size=8)
NAMES = st.text("abA-x", max_size=10)


def matches_by_definition(pattern: str, name: str) -> bool:
    """Match by trying everything, which takes exponential time."""
    if not pattern:
        return not name
    head, rest = pattern[0], pattern[1:]
    if head == "*":
        return any(
            matches_by_definition(rest, name[skipped:])
            for skipped in range(len(name) + 1)
        )
    return (
        bool(name) and head in ("?", name[0]) and matches_by_definition(rest, name[1:])
    )


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("read_issue", "read_issue", True),
        ("read_issue", "read_issues", False),
        ("read_issue", "xread_issue", False),
        ("read_*", "read_", True),
        ("read_*", "Read_issue", False),
        ("*.delete", "issues.delete", True),
        ("*.delete", "issues.deleted", False),
        ("*", "", True),
        ("*", "repo/issues:list", True),
        ("?", "", False),
        ("?", "é", True),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("a.c", "abc", False),
        ("a*b*c", "aXbXbXc", True),
        ("**a**", "bab", True),
        ("*", "a\nb", True),
        ("a", "a\n", False),
        ("*", "*", True),
        ("a", "*", False),
    ],
)
def test_pattern_stands_for_the_whole_name(
    pattern: str, name: str, *, expected: bool
) -> None:
    assert matches(pattern, name) is expected


@given(PATTERNS, NAMES)
def test_matching_is_as_defined(pattern: str, name: str) -> None:
    assert matches(pattern, name) == matches_by_definition(pattern, name)


@given(st.lists(PATTERNS, max_size=6), NAMES)
def test_many_globs_match_as_each_of_them_does(patterns: list[str], name: str) -> None:
    expected = [number for number, each in enumerate(patterns) if matches(each, name)]
    assert list(Globs(patterns).matching(name)) == expected


@given(st.lists(PATTERNS, max_size=6), PATTERNS)
def test_many_globs_cover_as_each_of_them_does(
    patterns: list[str], pattern: str
) -> None:
    expected = [number for number, each in enumerate(patterns) if covers(each, pattern)]
    assert list(Globs(patterns).covering(pattern)) == expected


@given(PATTERNS, PATTERNS, NAMES)
def test_covering_means_matching_all_that_the_other_matches(
    pattern: str, other: str, name: str
) -> None:
    if covers(pattern, other) and matches(other, name):
        assert matches(pattern, name)


@pytest.mark.slow
def test_covering_is_exact_for_all_short_patterns() -> None:
    """Compare with the languages over the patterns' letters and one more."""
    words = [
        "".join(word) for n in range(8) for word in itertools.product("abx", repeat=n)
    ]
    patterns = [
        "".join(word)
        for n in range(1, 5)
        for word in itertools.product("ab*?", repeat=n)
    ]

    @cache
    def language(pattern: str) -> int:
        expression = pattern.replace("*", ".*").replace("?", ".")
        fits = re.compile(expression).fullmatch
        return sum(1 << number for number, word in enumerate(words) if fits(word))

    for pattern in patterns:
        for other in patterns:
            contained = language(other) & ~language(pattern) == 0
            assert covers(pattern, other) is contained, (pattern, other)


@pytest.mark.parametrize(
    ("pattern", "other", "expected"),
    [
        ("*", "read_*", True),
        ("read_*", "*", False),
        ("read_*", "read_issue", True),
        ("*?", "?*", True),
        ("a?*", "a*?", True),
        ("a?*b", "a*b", False),
        ("a*b", "a?*b", True),
        ("*a*", "*a*a*", True),
        ("*a*a*", "*a*", False),
        ("a*", "A*", False),
        ("??*", "?*b", True),
    ],
)
def test_covering(pattern: str, other: str, *, expected: bool) -> None:
    assert covers(pattern, other) is expected


@pytest.mark.parametrize(
    "pattern",
    ["*a" * 127 + "b", "*" * 255 + "b", "*?" * 127 + "b", "?*a" * 85, "a*" * 128],
)
@pytest.mark.thorough
def test_hostile_patterns_take_no_longer_than_others(pattern: str) -> None:
    """Backtracking would take longer than the universe has."""
    started = time.process_time()
    for name in ("a" * 256, "ab" * 128, "b" + "a" * 255):
        matches(pattern, name)
        covers(pattern, name)
    covers(pattern, "a*" * 128)
    assert time.process_time() - started < 0.5
