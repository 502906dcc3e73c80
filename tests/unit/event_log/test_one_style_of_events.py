"""Each event applies itself: docs/decisions/0044-events-that-apply-themselves.md."""

import re

from tests.support.project import ROOT

APPLIED_BY_A_METHOD = re.compile(r"@event\((?!Created\))")


def test_no_event_but_the_first_is_applied_by_a_method_of_the_aggregate() -> None:
    files = [*(ROOT / "service").rglob("*.py")]
    assert any("@event(Created)" in file.read_text("utf-8") for file in files)

    assert [
        str(file.relative_to(ROOT))
        for file in files
        if APPLIED_BY_A_METHOD.search(file.read_text("utf-8"))
    ] == []
