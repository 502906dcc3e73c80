"""What pages give to take along: on the clipboard, and as files."""

import json

import pytest
from playwright.sync_api import expect

from tests.integration.console.browser.conftest import Visit
from tests.integration.console.browser.visitor import Visitor
from tests.support.console.browser.pages import PAGES
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough

CLIPBOARD = ["clipboard-read", "clipboard-write"]


def copied(visitor: Visitor, label: str) -> str:
    button = visitor.page.get_by_role("button", name=label)
    button.click()
    expect(button).to_contain_text("copied")
    return str(visitor.page.evaluate("navigator.clipboard.readText()"))


def test_a_view_is_copied_as_curl(visit: Visit) -> None:
    visitor = visit("admin", permissions=CLIPBOARD).open("sessions?has_error=true")

    assert copied(visitor, "Copy as curl") == (
        'curl -s -H "Authorization: Bearer $TOKEN" '
        f"'{visitor.url}/api/observability/session/list?has_error=true&limit=25'"
    )


@pytest.mark.parametrize("page", ["explain-all", "agent"])
def test_every_decision_shown_is_copied_as_curl(
    visit: Visit, demo: DemoData, page: str
) -> None:
    visitor = visit("admin", permissions=CLIPBOARD).open(PAGES[page](demo))
    expect(
        visitor.page.locator("main td").filter(has_text="…").first
    ).not_to_be_visible()

    explained = f"{visitor.url}/api/mcp/agents/{demo.agent_id}/tools/explain?"
    lines = copied(visitor, "Copy as curl").splitlines()
    found = [line for line in lines if explained in line]
    assert found
    assert all("tool=" in line and "connector_id=" in line for line in found)


def test_every_view_has_its_link(visit: Visit, demo: DemoData) -> None:
    visitor = visit("admin", permissions=CLIPBOARD, refusals_expected=True)
    for name, address in PAGES.items():
        visitor.open(address(demo))
        assert copied(visitor, "Copy link") == visitor.page.url, name


def test_an_entry_is_copied_as_recorded(visit: Visit, demo: DemoData) -> None:
    visitor = visit("olga", permissions=CLIPBOARD).open(PAGES["entry"](demo))

    entry = json.loads(copied(visitor, "Copy the JSON"))
    assert entry["position"] == demo.position


def test_an_export_is_copied_as_curl_with_its_filters(visit: Visit) -> None:
    visitor = visit("olga", permissions=CLIPBOARD).open("audit?kind=connector")

    line = copied(visitor, "Copy export as curl")
    assert "/api/audit/export.jsonl?kind=connector' > audit.jsonl" in line


def test_the_newest_checkpoint_and_key_are_kept(visit: Visit, demo: DemoData) -> None:
    visitor = visit("olga", permissions=CLIPBOARD).open("verify")
    visitor.click("Show the newest checkpoint")
    assert visitor.violations() == []
    note = copied(visitor, "Copy the checkpoint")
    with visitor.page.expect_download() as saving:
        visitor.click("Save the checkpoint")

    assert saving.value.path().read_text("utf-8") == note
    origin, size, *_ = note.splitlines()
    assert int(size) >= demo.position
    key = demo.call("GET", "/api/audit/checkpoint/key")["public_key"]
    assert copied(visitor, "Copy the key") == key
    assert key.startswith(origin)


def test_the_requests_for_proofs_are_copied_as_curl(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit("olga", permissions=CLIPBOARD).open(PAGES["verify"](demo))
    checkpoint = demo.text("/api/audit/checkpoint")
    visitor.page.get_by_label("Your checkpoint").fill(checkpoint)
    visitor.page.get_by_role("button", name="Verify", exact=True).click()

    lines = copied(visitor, "Copy the requests as curl").splitlines()
    size = checkpoint.splitlines()[1]
    assert [line.partition("/api/")[2] for line in lines] == [
        f"audit/proofs/consistency?first={size}'",
        f"audit/proofs/inclusion?position={demo.position}&size={size}'",
    ]
