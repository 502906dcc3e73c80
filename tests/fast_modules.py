"""Leave modules without a fast test out of ``pytest -m fast``, not even imported.

Importing them takes seconds. Whether a module holds a fast test follows from its text:
from the markers and fixtures of its tests, and from the fixtures that those use. In
doubt it is imported. ``tests/test_levels.py`` compares this with the tests that were
collected.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.levels import NOT_FAST, SERVERS

TESTS = Path(__file__).parent
# With the lines of decorators; of the parameters perhaps not the last ones.
FUNCTION = re.compile(
    r"^(?P<decorators>(?:@.*\n(?:[ )\]}].*\n)*)*)"
    r"(?:async )?def (?P<name>\w+)\((?P<parameters>[^)]*)\)",
    re.MULTILINE,
)
PARAMETER = re.compile(r"(?:^|,)\s*(\w+)\s*:")
USED = re.compile(r'usefixtures\("(\w+)"')
MODULE_MARKS = re.compile(r"^pytestmark = (?:\[[^\]]*\]|.*$)", re.MULTILINE)
NOT_FAST_MARK = re.compile(rf"\bpytest\.mark\.(?:{'|'.join(NOT_FAST)})\b")
# Tests that aren't functions.
CLASS = re.compile(r"^class Test|\bTestCase\b", re.MULTILINE)

# The names that each fixture uses.
Fixtures = Mapping[str, frozenset[str]]


def pytest_ignore_collect(
    collection_path: Path, config: pytest.Config
) -> "bool | None":
    if config.option.markexpr != "fast" or _may_lead_to_fast_test(collection_path):
        return None
    return True


def _may_lead_to_fast_test(path: Path) -> bool:
    """Tell whether to collect a module, or a folder with its conftest."""
    if path.is_dir():
        return any(map(may_hold_fast_test, path.rglob("test_*.py")))
    return not path.name.startswith("test_") or may_hold_fast_test(path)


def may_hold_fast_test(module: Path) -> bool:
    text = module.read_text("utf-8")
    marks = "".join(MODULE_MARKS.findall(text))
    if NOT_FAST_MARK.search(marks):
        return False
    if CLASS.search(text):
        return True
    fixtures = {**_fixtures_of_folder(module.parent), **_fixtures_in(text)}
    used_by_all = USED.findall(marks)
    return any(
        not NOT_FAST_MARK.search(found["decorators"])
        and not _needs_server({*_names_used(found), *used_by_all}, fixtures)
        for found in FUNCTION.finditer(text)
        if found["name"].startswith("test_")
    )


@cache
def _fixtures_of_folder(folder: Path) -> Fixtures:
    """Return those of the folder's conftest, and of the folders above it."""
    above = _fixtures_of_folder(folder.parent) if TESTS in folder.parents else {}
    conftest = folder / "conftest.py"
    if not conftest.exists():
        return above
    return {**above, **_fixtures_in(conftest.read_text("utf-8"))}


def _fixtures_in(text: str) -> Fixtures:
    return {
        found["name"]: frozenset(_names_used(found))
        for found in FUNCTION.finditer(text)
        if "fixture" in found["decorators"]
    }


def _names_used(function: "re.Match[str]") -> set[str]:
    return {
        *PARAMETER.findall(function["parameters"]),
        *USED.findall(function["decorators"]),
    }


def _needs_server(names: "set[str]", fixtures: Fixtures) -> bool:
    """Follow fixtures to those that they use."""
    seen: set[str] = set()
    while names:
        seen |= names
        names = {used for name in names for used in fixtures.get(name, ())} - seen
    return not SERVERS.isdisjoint(seen)
