"""The demo's agent calls the demo's tools, by the documented commands."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.demo_service import DemoService, demo_service
from tests.waiting import until_blocking

PAGE = Path(__file__).parent.parent.parent / "docs" / "gateway.md"
SECTION = PAGE.read_text(encoding="utf-8").split("\n## Try it\n")[1].split("\n## ")[0]
LIST, CALLS = re.findall(r"^```sh\n(.*?)^```$", SECTION, re.DOTALL | re.MULTILINE)
(SHOWN,) = re.findall(r"^```json\n(.*?)^```$", SECTION, re.DOTALL | re.MULTILINE)


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[DemoService]:
    with demo_service(tmp_path) as service:
        yield service


@pytest.mark.processes
def test_the_documented_calls(demo: DemoService) -> None:
    until_blocking(lambda: "issue-tracker_list_issues" in demo.run(LIST))

    listed = demo.run(LIST)
    called = demo.run(LIST + CALLS).removeprefix(listed)

    assert "issue-tracker_create_issue" in listed
    assert "delete" not in listed
    assert called.startswith(SHOWN.replace("}\n{", "}{").strip())
    assert "a person has to approve this call; it is pending until" in called
