"""Examples of consumers, and benchmarks, read events' newest versions, too.

An event whose version they don't know, they skip.
"""

import re
from pathlib import Path

import pytest

from projections.event_contract import PUBLIC_EVENTS
from tests.support.project import ROOT

# As the client's classes are named, and as messages are.
VERSION = re.compile(r"\b(?:([A-Z]\w+)V(\d+)|([a-z_]+\.[a-z_]+)\.v(\d+))\b")
NEWEST = dict(each.name.rsplit(".v", 1) for each in PUBLIC_EVENTS.values())
READERS = sorted(
    path
    for pattern in (
        "docs/*.md",
        "docs/examples/*.py",
        "client/README.md",
        "client/examples/*.py",
        "tests/instruments/bench/*.py",
    )
    for path in ROOT.glob(pattern)
    if path != ROOT / "docs/events.md"
)


def versions_in(text: str) -> dict[str, set[str]]:
    """Return the versions that a text names, by the type of the event."""
    by_class = {
        "".join(map(str.capitalize, re.split(r"[._]", name))): name for name in NEWEST
    }
    found: dict[str, set[str]] = {}
    for class_name, of_class, name, of_name in VERSION.findall(text):
        kind = by_class.get(class_name, name)
        if kind in NEWEST:
            found.setdefault(kind, set()).add(of_class or of_name)
    return found


@pytest.mark.parametrize("path", READERS, ids=lambda each: str(each.relative_to(ROOT)))
def test_a_reader_of_an_event_reads_its_newest_version(path: Path) -> None:
    outdated = {
        name: NEWEST[name]
        for name, versions in versions_in(path.read_text("utf-8")).items()
        if NEWEST[name] not in versions
    }
    assert outdated == {}, f"{path.relative_to(ROOT)} has to read these versions, too"


def test_versions_are_found() -> None:
    found = versions_in("case ConnectorRegisteredV1(): 'connector.registered.v2' V3")
    assert found == {"connector.registered": {"1", "2"}}
