"""How many tools are listed to an agent, on its page."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.integration.console.browser.conftest import Visit
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough

ALL = "All tools are listed to the agent."


@pytest.fixture
def agent(demo: DemoData) -> Iterator[str]:
    """An agent of ada's."""
    made = demo.call("POST", "/api/catalog/agents", {"name": "Seeker"}, user="ada")
    yield made["id"]
    demo.remove_later(f"/api/catalog/agents/{made['id']}", user="ada")


def read(demo: DemoData, agent: str) -> Any:
    settings = demo.call("GET", f"/api/mcp/agents/{agent}/gateway", user="ada")
    return settings["tools_listed_max"]


def test_it_is_set_and_unset(visit: Visit, demo: DemoData, agent: str) -> None:
    visitor = visit("ada").open(f"agents/{agent}")
    most = visitor.page.get_by_label("Tools listed at most")
    expect(visitor.page.get_by_text(ALL)).to_be_visible()

    for text, number, shown in (
        ("40", 40, "more than 40 tools, it is listed two"),
        ("0", 0, "more than 0 tools, it is listed two"),
        ("", None, ALL),
    ):
        visitor.click("Tool search")
        most.fill(text)
        assert visitor.violations() == []
        visitor.click("Save")
        expect(visitor.page.get_by_text(shown)).to_be_visible()
        assert read(demo, agent) == number


def test_what_is_wrong_is_shown_at_the_field(
    visit: Visit, demo: DemoData, agent: str
) -> None:
    visitor = visit("ada", refusals_expected=True).open(f"agents/{agent}")
    visitor.click("Tool search")
    most = visitor.page.get_by_label("Tools listed at most")
    most.fill("2000000")
    visitor.click("Save")

    expect(most).to_have_attribute("aria-invalid", "true")
    assert read(demo, agent) is None


def test_an_agent_that_changed_meanwhile_is_not_overwritten(
    visit: Visit, demo: DemoData, agent: str
) -> None:
    visitor = visit("ada", refusals_expected=True).open(f"agents/{agent}")
    visitor.click("Tool search")
    path = f"/api/mcp/agents/{agent}/gateway"
    demo.call("PUT", path, {"tools_listed_max": 7}, user="ada")
    visitor.page.get_by_label("Tools listed at most").fill("40")
    visitor.click("Save")

    alert = visitor.page.get_by_role("alert")
    expect(alert).to_contain_text("It has changed since you read it")
    assert read(demo, agent) == 7


def test_who_only_sees_the_agent_reads_it(visit: Visit, agent: str) -> None:
    visitor = visit("olga").open(f"agents/{agent}")

    expect(visitor.page.get_by_text(ALL)).to_be_visible()
    expect(visitor.page.get_by_role("button", name="Tool search")).to_have_count(0)
