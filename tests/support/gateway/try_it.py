"""The commands of "Try it" in docs/gateway.md, and what they have to show."""

import re
from collections.abc import Callable

from tests.support.project import ROOT
from tests.support.waiting import until_blocking

PAGE = ROOT / "docs" / "gateway.md"
SECTION = PAGE.read_text(encoding="utf-8").split("\n## Try it\n")[1].split("\n## ")[0]
LIST, CALLS, APPROVE, CURL, AGAIN = re.findall(
    r"^```sh\n(.*?)^```$", SECTION, re.DOTALL | re.MULTILINE
)
SHOWN, ASKED = re.findall(r"^```json\n(.*?)^```$", SECTION, re.DOTALL | re.MULTILINE)
# The variables that the first commands set.
AGENT = "".join(LIST.splitlines(keepends=True)[:2])


def check_calls(run: Callable[[str], str]) -> None:
    """Check what the commands show; ``run`` runs a script in a shell."""
    until_blocking(lambda: "issue-tracker_list_issues" in run(LIST))

    listed = run(LIST)
    called = run(LIST + CALLS).removeprefix(listed)

    assert "issue-tracker_create_issue" in listed
    assert "delete" not in listed
    assert called.startswith(SHOWN.replace("}\n{", "}{").strip())
    pending = "a person has to approve this call; it is pending until"
    assert pending in called

    approved = run(AGENT + APPROVE + AGAIN)

    assert ASKED.strip() in approved
    assert approved.count("created #3") == 1
    # By the same commands of curl: what is asked again has the same id.
    assert pending in run(AGENT + AGAIN)
    again = run(AGENT + APPROVE.split("art approvals show")[0] + CURL + AGAIN)
    assert again.count("created #4") == 1
