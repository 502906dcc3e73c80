"""What the folders of tests may import from each other."""

import re
from pathlib import Path

import pytest

from tests.support.project import ROOT

MAY_IMPORT = {
    "support": {"support"},
    "unit": {"support", "unit"},
    "integration": {"support", "integration"},
    "instruments": {"support", "unit", "integration", "instruments"},
}


def imported(path: Path) -> set[str]:
    pattern = r"^\s*(?:from|import) tests\.(\w+)"
    return set(re.findall(pattern, path.read_text("utf-8"), re.MULTILINE))


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_a_folder_imports_from_those_below_it(folder: str) -> None:
    found = {
        str(path): imported(path) - MAY_IMPORT[folder] - {"all", "generated"}
        for path in (ROOT / "tests" / folder).rglob("*.py")
    }

    assert found
    assert {path: names for path, names in found.items() if names} == {}
