"""Patterns against names."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.tool_rules.glob import (
    has_parts_of,
    matches,
    search_key,
    search_keys,
)
from tests.unit.tool_rules.naive_glob import matches_by_definition

PATTERNS = st.text("abA-*?", min_size=1, max_size=8)
NAMES = st.text("abA-x", max_size=10)
# Many ways to match, of which a matcher that goes back would try each.
PATHOLOGICAL = st.builds(
    lambda part, times, end: part * times + end,
    st.text("ab*?", min_size=1, max_size=3),
    st.integers(1, 85),
    st.text("ab*?", max_size=3),
)
REPETITIVE = st.builds(
    lambda part, times, end: part * times + end,
    st.text("ab", min_size=1, max_size=3),
    st.integers(1, 85),
    st.text("ab\n", max_size=3),
)


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("read_issue", "read_issue", True),
        ("read_issue", "read_issues", False),
        ("read_issue", "xread_issue", False),
        ("read_*", "read_", True),
        ("read_*", "Read_issue", False),
        ("*", "", True),
        ("?", "", False),
        ("?", "é", True),
        ("?", "\n", True),
        ("?", "\ud800", True),
        ("a.c", "abc", False),
        ("a.*", "ab", False),
        ("a-z*", "b", False),
        ("*", "a\nb", True),
        ("*a", "a\n", False),
        ("a", "a\n", False),
        ("a*", "a[*]", True),
        # No rule has these characters. If one had, they would stand for themselves.
        ("[a]*", "a", False),
        ("[!a]*", "b", False),
        ("[a]*", "[a]b", True),
        ("a]*", "a]b", True),
    ],
)
def test_pattern_stands_for_the_whole_name(
    pattern: str, name: str, *, expected: bool
) -> None:
    assert matches(pattern, name) is expected


@given(PATTERNS, NAMES)
def test_matching_is_as_defined(pattern: str, name: str) -> None:
    assert matches(pattern, name) == matches_by_definition(pattern, name)


@given(PATTERNS, st.text(max_size=10))
def test_any_name_is_matched_as_defined(pattern: str, name: str) -> None:
    assert matches(pattern, name) == matches_by_definition(pattern, name)


@given(PATHOLOGICAL, REPETITIVE)
def test_pathological_patterns_match_as_defined(pattern: str, name: str) -> None:
    assert matches(pattern, name) == matches_by_definition(pattern, name)


@pytest.mark.parametrize(
    "pattern",
    [
        "*a" * 127 + "b",
        "*" * 255 + "b",
        "*?" * 127 + "b",
        "?*a" * 85,
        "a*" * 128,
        "*" + "a" * 127 + "b*",
    ],
)
@pytest.mark.thorough
def test_hostile_patterns_take_no_longer_than_others(pattern: str) -> None:
    """Going back would take longer than the universe has."""
    started = time.process_time()
    for name in ("a" * 256, "ab" * 128, "b" + "a" * 255):
        matches(pattern, name)
    assert time.process_time() - started < 0.1


@given(pattern=st.one_of(PATTERNS, REPETITIVE), name=st.one_of(NAMES, REPETITIVE))
def test_a_name_has_the_search_key_of_each_pattern_that_it_matches(
    pattern: str, name: str
) -> None:
    for each in (pattern, f"*{pattern}", f"{pattern}*", name, f"{name[:-1]}?", "*"):
        if matches(each, name):
            assert search_key(each) in search_keys(name)
            assert has_parts_of(each, name)


@pytest.mark.parametrize(
    "pattern", ["crm.contacts.17*", "*17.contacts", "crm.*.list17", "?17?"]
)
def test_patterns_with_another_number_are_not_found(pattern: str) -> None:
    assert search_key(pattern) not in search_keys("crm.contacts.list")
