"""The audit trail in the browser: sentences, filters, live, one entry, export."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.integration.console.browser.answers import Held
from tests.integration.console.browser.conftest import Visit
from tests.support.console.browser.service import HOSTILE, DemoData
from tests.support.waiting import until_blocking

pytestmark = pytest.mark.thorough

REGISTERED = "agent.registered"


def registered(demo: DemoData, name: str) -> str:
    """Register an agent, and return its id once the trail shows it."""
    agent = demo.call("POST", "/api/catalog/agents", {"name": name})
    about = f"/api/audit/events?resource={agent['id']}"
    until_blocking(lambda: demo.call("GET", about)["entries"])
    return str(agent["id"])


def entries(
    demo: DemoData, kind: str, resource: str | None = None
) -> list[dict[str, Any]]:
    of_resource = f"&resource={resource}" if resource else ""
    found = demo.call("GET", f"/api/audit/events?kind={kind}{of_resource}")
    return list(found["entries"])


def test_sentences_come_first_and_names_stay_text(visit: Visit, demo: DemoData) -> None:
    agent = registered(demo, HOSTILE)
    visitor = visit("olga").open(f"audit?resource={agent}")

    # The trail may show above it that olga has read the trail.
    row = visitor.page.locator("main tbody tr", has_text=REGISTERED)
    expect(row).to_contain_text("admin")
    expect(row).to_contain_text(HOSTILE)
    assert visitor.page.locator("main img, main td script").count() == 0
    assert visitor.violations() == []


def test_filters_stand_in_the_address_and_come_back(
    visit: Visit, demo: DemoData
) -> None:
    registered(demo, "Filtered agent")
    visitor = visit("olga")
    page = visitor.page
    visitor.open("audit")
    page.get_by_label("Kind").fill(REGISTERED)
    visitor.press("Enter")
    expect(page).to_have_url(re.compile(f"kind={REGISTERED}"))
    visitor.settled()
    kinds = page.locator("main tbody td:nth-child(3)")
    expect(kinds.filter(has_not_text=REGISTERED)).to_have_count(0)
    expect(kinds.first).to_have_text(REGISTERED)

    page.get_by_role("link", name="admin", exact=True).first.click()
    expect(page).to_have_url(re.compile("actor="))
    page.go_back()
    visitor.settled()
    expect(page.get_by_label("Kind")).to_have_value(REGISTERED)
    page.get_by_role("button", name="Clear filters").click()
    expect(page).not_to_have_url(re.compile("kind="))


def test_new_entries_appear_until_paused_and_after(
    visit: Visit, demo: DemoData
) -> None:
    registered(demo, "Before the page")
    visitor = visit("olga").open(f"audit?kind={REGISTERED}")
    rows = visitor.page.locator("main tbody tr")
    before = rows.count()

    visitor.click("Follow live")
    registered(demo, "While it follows")
    expect(rows.first).to_contain_text("While it follows")
    visitor.shows(".live", "1 new entry")
    assert visitor.violations() == []

    visitor.click("Pause")
    visitor.shows(".live", "Paused")
    registered(demo, "While it is paused")
    assert rows.count() == before + 1

    visitor.click("Go on")
    expect(rows.first).to_contain_text("While it is paused")
    expect(rows).to_have_count(before + 2)


def test_following_refuses_filters_that_the_stream_lacks(visit: Visit) -> None:
    visitor = visit("olga").open("audit?from=2026-01-01")

    visitor.shows(".not-offered", "only without times")
    expect(visitor.page.get_by_role("button", name="Follow live")).to_have_count(0)


def test_an_entry_shows_before_and_after_and_the_record(
    visit: Visit, demo: DemoData
) -> None:
    agent = registered(demo, "Old name")
    changed = {"name": "New name", "description": "changed"}
    demo.call("PUT", f"/api/catalog/agents/{agent}", changed)
    (entry,) = until_blocking(lambda: entries(demo, "agent.edited", agent))
    visitor = visit("olga").open(f"audit/{entry['position']}")

    expect(visitor.page.locator("del").first).to_be_visible()
    expect(visitor.page.locator("tr", has_text="/name")).to_contain_text("Old name")
    expect(visitor.page.locator("tr", has_text="/name")).to_contain_text("New name")
    recorded = json.loads(visitor.page.locator("main pre").inner_text())
    assert recorded["topic"] == "agent.edited"
    assert recorded["aggregate_id"] == agent


def test_the_leaf_that_the_browser_computes_is_that_of_the_tree(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit("olga")
    for position in (1, 2, 3):
        visitor.open(f"audit/{position}")
        leaf = visitor.page.locator("main .hash").inner_text()
        proof = demo.call("GET", f"/api/audit/proofs/inclusion?position={position}")
        assert leaf == proof["leaf_hash"]


def test_an_export_is_saved_as_the_api_sends_it(visit: Visit, demo: DemoData) -> None:
    registered(demo, "Exported agent")
    visitor = visit("olga").open(f"audit?kind={REGISTERED}")
    with visitor.page.expect_download() as saving:
        visitor.click("Export JSON Lines")

    assert saving.value.suggested_filename == "audit.jsonl"
    *lines, _end = saving.value.path().read_text("utf-8").splitlines()
    positions = [json.loads(line)["position"] for line in lines]
    assert positions == sorted(each["position"] for each in entries(demo, REGISTERED))
    expect(visitor.page.get_by_text("saved audit.jsonl")).to_be_visible()


@pytest.mark.parametrize(("label", "form"), [("JSON Lines", "jsonl"), ("CSV", "csv")])
def test_an_export_that_a_proxy_ended_early_is_not_saved(
    visit: Visit, demo: DemoData, label: str, form: str
) -> None:
    """The answer looks whole to the browser."""
    visitor = visit("olga").open("audit?limit=25")
    whole = demo.text(f"/api/audit/export.{form}?until_position=5")
    cut = "".join(whole.splitlines(keepends=True)[:-2])
    visitor.page.route("**/api/audit/export.*", lambda route: route.fulfill(body=cut))

    visitor.click(f"Export {label}")

    visitor.shows(".failure", "The answer broke off, so nothing was saved")


def test_an_export_can_be_cancelled(visit: Visit) -> None:
    visitor = visit("olga").open("audit?limit=25")
    Held(visitor.page, "/api/audit/export.csv")
    visitor.click("Export CSV")
    visitor.click("Cancel")

    expect(visitor.page.get_by_text("nothing was saved")).to_be_visible()


@pytest.mark.parametrize("address", ["audit", "audit/1"])
def test_others_are_told_for_whom_it_is(visit: Visit, address: str) -> None:
    visitor = visit("ada").open(address)

    visitor.shows(".not-offered", "for superusers and auditors")
    assert [each for each in visitor.requests if "/api/audit" in each] == []
