"""The commands that CONTRIBUTING.md's recipes name."""

import re
from collections.abc import Iterable
from typing import Final

from tests.support.project import ROOT

CONTRIBUTING: Final = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
COMMAND: Final = re.compile(r"`((?:make|python -m) [\w.-]+)`")
# The first takes minutes: the tests run those that fit. The others drive all pages.
NOT_RUN: Final = {"make test", "make console-checks", "make pictures"}


def commands(sections: Iterable[str]) -> list[str]:
    """Return what has to be run, in its order, but for :data:`NOT_RUN`."""
    found: list[str] = []
    for section in sections:
        _, heading, rest = CONTRIBUTING.partition(f"\n## {section}\n")
        assert heading, f"CONTRIBUTING.md has no section {section!r}"
        found += COMMAND.findall(rest.partition("\n## ")[0])
    assert found, f"{sections} of CONTRIBUTING.md name no command"
    return [each for each in dict.fromkeys(found) if each not in NOT_RUN]
