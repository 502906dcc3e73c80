"""The demo's agent calls the demo's tools, by the documented commands."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.demo_service import DemoService, demo_service
from tests.waiting import until_blocking

PAGE = Path(__file__).parent.parent.parent / "docs" / "gateway.md"
SECTION = PAGE.read_text(encoding="utf-8").split("\n## Try it\n")[1].split("\n## ")[0]
LIST, CALLS, APPROVE, CURL, AGAIN = re.findall(
    r"^```sh\n(.*?)^```$", SECTION, re.DOTALL | re.MULTILINE
)
SHOWN, ASKED = re.findall(r"^```json\n(.*?)^```$", SECTION, re.DOTALL | re.MULTILINE)
# The variables that the first commands set.
AGENT = "".join(LIST.splitlines(keepends=True)[:2])


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
    pending = "a person has to approve this call; it is pending until"
    assert pending in called

    approved = demo.run(AGENT + APPROVE + AGAIN)

    assert ASKED.strip() in approved
    assert approved.count("created #3") == 1
    # By the same commands of curl: what is asked again has the same id.
    assert pending in demo.run(AGENT + AGAIN)
    again = demo.run(AGENT + APPROVE.split("art approvals show")[0] + CURL + AGAIN)
    assert again.count("created #4") == 1
