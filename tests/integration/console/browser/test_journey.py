"""Every page opens, and one change is made from beginning to end."""

import re

from playwright.sync_api import expect

from tests.integration.console.browser.conftest import Visit
from tests.support.console.browser.pages import PAGES
from tests.support.console.browser.service import DemoData


def test_every_page_opens(visit: Visit, demo: DemoData) -> None:
    visitor = visit("admin", refusals_expected=True)
    for name, address in PAGES.items():
        visitor.open(address(demo))
        assert visitor.errors == [], name
        assert visitor.overflow() <= 0, name


def test_rules_are_previewed_and_saved(visit: Visit, demo: DemoData) -> None:
    visitor = visit("ben").open(f"agents/{demo.agent_id}")
    path = f"/api/mcp/agents/{demo.agent_id}/tools"
    before = demo.call("GET", path)["rules"]
    visitor.click("Edit rules")
    rule = visitor.edit_rule(before[1]["tool_pattern"])
    rule.get_by_label("Tool pattern").fill("delete_i*")
    rule.get_by_label("Stance").select_option("allow")
    visitor.click("Preview")

    preview = visitor.page.get_by_role("region", name="Preview")
    expect(preview).to_contain_text(re.compile("decisions? change"))
    expect(preview.get_by_role("table", name="Rules added")).to_contain_text(
        "delete_i*"
    )
    assert demo.call("GET", path)["rules"] == before
    assert visitor.violations() == []

    visitor.click("Save these rules")
    expect(visitor.page.get_by_role("cell", name="delete_i*").first).to_be_visible()
    expect(visitor.page.get_by_role("button", name="Edit rules")).to_be_visible()
    patterns = [rule["tool_pattern"] for rule in demo.call("GET", path)["rules"]]
    assert "delete_i*" in patterns

    # As they were before.
    visitor.page.get_by_text("Restore earlier rules").click()
    visitor.page.get_by_label("Rules as of").fill(str(demo.position))
    visitor.click("Show them")
    visitor.confirm("Restore these rules")
    expect(visitor.page.get_by_text("delete_i*")).to_have_count(0)
    assert demo.call("GET", path)["rules"] == before
