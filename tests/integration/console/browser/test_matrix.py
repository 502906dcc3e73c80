"""The decisions of an agent: each tool under the connectors that list it."""

import pytest
from playwright.sync_api import expect

from tests.integration.console.browser.conftest import Visit
from tests.support.console.browser.service import DemoData
from tests.support.waiting import until_blocking

pytestmark = pytest.mark.thorough

NOT_LISTED = "\u2013 not listed"


def test_a_tool_is_decided_for_connectors_that_list_it_alone(
    visit: Visit, demo: DemoData
) -> None:
    connectors = demo.call("GET", "/api/mcp/connectors")["connectors"]
    (calendar,) = [each["id"] for each in connectors if each["name"] == "Calendar"]
    path = f"/api/mcp/connectors/{calendar}/definitions"
    until_blocking(lambda: demo.call("GET", path)["tools"])
    visitor = visit("admin").open(f"agents/{demo.agent_id}")

    table = visitor.page.locator("main table").filter(has_text="Decisions now")
    headings = table.locator("thead th").all_inner_texts()
    places = [headings.index(name) for name in ("Issue tracker", "Calendar")]
    for tool, decisions in {
        "list_issues": ("✓ allow", NOT_LISTED),
        "list_appointments": (NOT_LISTED, "✓ allow"),
    }.items():
        cells = table.locator("tbody tr").filter(has_text=tool).locator("td")
        for place, decision in zip(places, decisions, strict=True):
            expect(cells.nth(place)).to_have_text(decision)
    assert visitor.violations() == []

    # A person may name what isn't known, and an alias.
    named = visitor.page.get_by_label("Tools to decide")
    named.fill("nothing, calendar_list_appointments")
    visitor.click("Decide")
    rows = table.locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.nth(0).locator("td", has_text=NOT_LISTED)).to_have_count(2)
    expect(rows.nth(1).locator("td").nth(places[1])).to_have_text("✓ allow")


def test_tools_that_could_not_be_read_are_not_said_to_be_unlisted(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit("admin", refusals_expected=True)
    visitor.page.route(
        "**/definitions", lambda route: route.fulfill(status=500, json={})
    )
    visitor.open(f"agents/{demo.agent_id}")

    visitor.shows("main", "The tools of these connectors couldn't be read")
