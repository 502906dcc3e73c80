"""The parts of ``make test-all`` are targets and documented."""

import pytest

from tests.all import PARTS
from tests.support.project import ROOT


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_a_target_and_documented(part: str) -> None:
    assert f"\n{part}:" in (ROOT / "Makefile").read_text()
    assert f"| `make {part}` |" in (ROOT / "CONTRIBUTING.md").read_text()
