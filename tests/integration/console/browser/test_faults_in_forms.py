"""What is wrong in a form is said at its field, and what failed is said with advice."""

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.integration.console.browser.answers import answer
from tests.integration.console.browser.conftest import Visit
from tests.integration.console.browser.visitor import Visitor
from tests.support.console.browser.service import DemoData

PROXY = "<!doctype html><h1>Bad gateway</h1>"


def fault_at(field: Locator, text: str) -> None:
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description(f"✕ {text}")


def said(visitor: Visitor) -> str:
    return visitor.page.get_by_role("alert").inner_text()


@pytest.mark.thorough
def test_faults_of_a_price_are_at_their_fields(visit: Visit) -> None:
    visitor = visit("admin", refusals_expected=True).open("prices")
    visitor.click("Set a price")
    visitor.send(
        {
            "Provider key": "openai",
            "Model": "m",
            "Input price": "1,5",
            "Output price": "-1",
        }
    )

    dialog = visitor.page.get_by_role("dialog")
    fault_at(dialog.get_by_label("Input price"), "must be a decimal number")
    expect(dialog.get_by_label("Output price")).to_have_attribute(
        "aria-invalid", "true"
    )
    assert "price_per_1m" not in said(visitor)
    assert visitor.violations() == []
    corrected = dialog.get_by_label("Input price")
    expect(corrected).to_be_focused()
    corrected.fill("1.5")
    expect(corrected).not_to_have_attribute("aria-invalid", "true")
    expect(dialog.get_by_label("Output price")).to_have_attribute(
        "aria-invalid", "true"
    )


def test_faults_of_an_agent_are_at_their_fields(visit: Visit, demo: DemoData) -> None:
    visitor = visit("ben", refusals_expected=True).open(f"agents/{demo.agent_id}")
    visitor.page.get_by_role("button", name="Edit", exact=True).click()
    visitor.send({"Name": " "})

    name = visitor.page.get_by_role("dialog").get_by_label("Name", exact=True)
    fault_at(name, "must have at least 1 characters")
    assert "at least" not in said(visitor)


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (502, "failed (502)."),
        (200, "answered something else than the service does (200)."),
    ],
)
def test_a_page_of_a_proxy_is_told_from_an_answer(
    visit: Visit, status: int, text: str
) -> None:
    visitor = visit("ada", refusals_expected=True)
    visitor.page.route(
        "**/api/catalog/agents",
        lambda route: (
            route.fulfill(status=status, body=PROXY)
            if route.request.method == "POST"
            else route.fallback()
        ),
    )
    visitor.open("agents").click("Register an agent")
    visitor.send({"Name": "Behind a proxy"})

    alert = visitor.page.get_by_role("alert")
    expect(alert).to_contain_text(f"The service, or a proxy before it, {text}")
    expect(alert).to_contain_text("Try again in a moment")
    assert ".." not in said(visitor)


def test_a_failure_of_the_service_comes_with_advice(visit: Visit) -> None:
    visitor = visit("ada", refusals_expected=True)
    data = {"code": "internal_error", "errors": [], "request_id": "its-id"}
    answer(visitor.page, "/api/mcp/connectors", data, status=500, text="it broke.")
    visitor.open("connectors")

    alert = visitor.page.get_by_role("alert")
    for text in ("it broke.", "Try again in a moment", "its-id"):
        expect(alert).to_contain_text(text)
    assert ".." not in said(visitor)


def test_a_lost_connection_is_said_with_one_full_stop(visit: Visit) -> None:
    visitor = visit("ada")

    def lose(route: Route) -> None:
        route.abort()

    visitor.page.route("**/api/mcp/connectors?**", lose)
    visitor.open("connectors")

    expect(visitor.page.get_by_role("alert")).to_contain_text("can't be reached")
    assert ".." not in said(visitor)
    visitor.errors.clear()
