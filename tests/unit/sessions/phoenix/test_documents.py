"""Ids that callers chose, in documents and filters."""

import ast
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.sessions.phoenix.documents import (
    PER_DOCUMENT_MAX,
    is_one_of,
    quoted,
    sessions_by_id,
    sessions_of_projects,
)

HOSTILE = [
    "plain-id_1",
    "'",
    '"',
    "\\",
    "\\'",
    "'''",
    "'] or session_id in ['",
    '"]) or (1==1',
    "a\nb",
    "\\u0027",
    "\\N{APOSTROPHE}",
    "{x}",
    "$c0",
    "é",
    "😀",
    "\u2028",
    "\u202e",
    "#",
    "%s",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_id_is_one_literal_of_harmless_characters(text: str) -> None:
    assert ast.literal_eval(quoted(text)) == text
    assert re.fullmatch(r"'[A-Za-z0-9_\\-]*'", quoted(text))


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_a_filter_is_one_comparison_with_these_ids(session_ids: list[str]) -> None:
    tree: Any = ast.parse(is_one_of(session_ids), mode="eval").body

    assert isinstance(tree, ast.Compare)
    assert ast.unparse(tree.left) == "session_id"
    ids: Any = tree.comparators[0]
    assert [each.value for each in ids.elts] == session_ids


def aliases(query: str) -> int:
    return len(re.findall(r"(?<!\$)\b\w+: (?=get|trace)", query))


def test_documents_stay_within_phoenix_s_limit_of_aliases() -> None:
    ids = [f"s{number}" for number in range(PER_DOCUMENT_MAX)]

    # One for each, and for each the two of its fields.
    assert aliases(sessions_by_id(ids).query) == PER_DOCUMENT_MAX + 2
    assert 3 * PER_DOCUMENT_MAX <= 50
    assert aliases(sessions_of_projects({each: ["x"] for each in ids}).query) == (
        PER_DOCUMENT_MAX + 2
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_what_callers_chose_is_never_in_the_query(text: str) -> None:
    harmless = sessions_of_projects({"p": ["s"]}).query

    assert sessions_of_projects({text: [text]}).query == harmless
    assert sessions_by_id([text]).query == sessions_by_id(["s"]).query
