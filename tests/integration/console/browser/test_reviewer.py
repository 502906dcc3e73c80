"""The question of a reviewer: who could call it, who allowed it, is it genuine.

Answered by an auditor with the keyboard alone, from a checkpoint that was kept before.
"""

import re
from datetime import UTC, datetime
from typing import Final

import pytest
from playwright.sync_api import expect

from tests.integration.console.browser.conftest import Visit
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough


def test_a_reviewer_answers_by_keyboard_alone(visit: Visit, demo: DemoData) -> None:
    checkpoint = demo.text("/api/audit/checkpoint")
    then = datetime.now(UTC)
    demo.call("POST", "/api/catalog/agents", {"name": "Registered since"})
    reviewer = visit("olga").open("overview")

    # Who could call it, at a moment of the past?
    reviewer.tab_to("Explain", "a")
    reviewer.press("Enter")
    expect(reviewer.page.locator("h1")).to_have_text("Explain")
    reviewer.settled()
    reviewer.tab_to("Connector", "select")
    reviewer.type("Issue")
    reviewer.tab_to("Tool", "input")
    reviewer.type("create_issue")
    reviewer.tab_to("When", "input")
    reviewer.type(f"{then:%Y-%m-%d %H:%M:%S}")
    reviewer.press("Enter")
    able = "1 of 1 agents that held the connector could call it"
    expect(reviewer.page.get_by_role("status").filter(has_text=able)).to_be_visible()
    row = reviewer.page.locator("tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("Support triage")
    expect(row).to_contain_text("ask")

    # Who allowed it?
    expect(row).to_contain_text("ben")
    position = re.search(r"verify position (\d+)", row.inner_text())
    assert position is not None

    # Is the record genuine?
    reviewer.tab_to(f"verify position {position[1]}", "a")
    reviewer.press("Enter")
    expect(reviewer.page.locator("h1")).to_have_text("Verify")
    reviewer.settled()
    reviewer.tab_to("Your checkpoint", "textarea")
    reviewer.page.keyboard.insert_text(checkpoint)
    reviewer.tab_to("Verify", "button")
    reviewer.press("Enter")
    verdict = reviewer.page.get_by_role("status").filter(has_text="Genuine")
    expect(verdict).to_contain_text(f"the entry at position {position[1]}")
    expect(verdict).to_contain_text("nothing was changed or removed")
    shown = reviewer.page.locator("main").inner_text()
    assert "replaced tool rules" in shown or "tool rules" in shown


def test_every_page_is_reached_and_left_by_keyboard(visit: Visit) -> None:
    visitor = visit("admin").open("operation")
    visitor.page.locator("main h1").focus()
    names = visitor.page.locator("nav.pages a").all_inner_texts()
    assert len(names) > 10

    for name in names:
        visitor.tab_to(name, "a", key="Shift+Tab")
        visitor.press("Enter")
        visitor.settled()
        expect(visitor.page.locator("nav.pages [aria-current=page]")).to_have_text(name)
        # The focus has moved to the new page's heading.
        expect(visitor.page.locator("main h1")).to_be_focused()

    visitor.page.reload()
    visitor.settled()
    visitor.tab_to("Skip to the page", "button")
    visitor.press("Enter")
    expect(visitor.page.locator("main")).to_be_focused()


HELD: Final = """
window.held = [];
const real = window.setInterval;
window.setInterval = (work, ms) => ms < 100 ? held.push(work) : real(work, ms);
"""


def test_a_page_that_is_shown_late_takes_no_focus_from_a_field(visit: Visit) -> None:
    visitor = visit("olga")
    visitor.page.add_init_script(HELD)
    visitor.open("overview")

    visitor.tab_to("Explain", "a")
    visitor.press("Enter")
    visitor.settled()
    visitor.page.wait_for_function("held.length > 0")
    visitor.tab_to("Tool", "input")
    visitor.type("create_")
    visitor.page.evaluate("held.forEach(work => work())")
    visitor.type("issue")

    expect(visitor.page.get_by_label("Tool", exact=True)).to_have_value("create_issue")
