"""The tests that the security document names are there."""

import ast
import re

import pytest

from tests.support.project import ROOT

DOCUMENT = (ROOT / "docs/security.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", DOCUMENT)))


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_a_named_test_exists(file: str, name: str) -> None:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    assert name in {each.name for each in tree.body if isinstance(each, functions)}


def test_every_risk_names_tests() -> None:
    rows = [line for line in DOCUMENT.splitlines() if re.match(r"\| API\d+ ", line)]
    assert len(rows) == 10
    assert all(re.search(r"`tests/[\w/]+\.py::", row) for row in rows)
