"""Each action of the console, done as a person does it, and checked in the API."""

import re

import pytest
from playwright.sync_api import expect

from tests.integration.console.browser.conftest import Visit
from tests.integration.console.browser.visitor import Visitor
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough


def fill(visitor: Visitor, label: str, text: str) -> None:
    dialog = visitor.page.get_by_role("dialog")
    dialog.get_by_label(label, exact=True).fill(text)


def test_a_preview_of_stale_rules_is_refused(visit: Visit, demo: DemoData) -> None:
    visitor = visit("ben")
    visitor.refusals_expected = True
    visitor.open(f"agents/{demo.agent_id}")
    visitor.page.get_by_role("button", name="Edit rules").click()
    path = f"/api/mcp/agents/{demo.agent_id}/tools"
    before = demo.call("GET", path)["rules"]
    other = [*before, {**before[0], "tool_pattern": "other.*"}]
    demo.call("PUT", path, {"rules": other})
    visitor.page.get_by_role("button", name="Preview").click()

    expect(visitor.page.get_by_role("alert")).to_contain_text("has changed")
    demo.call("PUT", path, {"rules": before})


def test_rules_that_changed_since_their_preview_are_not_overwritten(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit("ben")
    visitor.refusals_expected = True
    visitor.open(f"agents/{demo.agent_id}")
    path = f"/api/mcp/agents/{demo.agent_id}/tools"
    before = demo.call("GET", path)["rules"]
    visitor.page.get_by_role("button", name="Edit rules").click()
    visitor.page.get_by_label("Tool pattern").nth(1).fill("issues.overwritten")
    visitor.page.get_by_role("button", name="Preview").click()
    save = visitor.page.get_by_role("button", name="Save these rules")
    expect(save).to_be_visible()
    other = [*before, {**before[0], "tool_pattern": "meanwhile.*"}]
    now = demo.call("PUT", path, {"rules": other})
    with visitor.page.expect_request(f"**{path}") as saving:
        save.click()

    expect(visitor.page.get_by_role("alert")).to_contain_text("has changed")
    assert saving.value.method == "PUT"
    assert saving.value.headers["if-match"]
    assert demo.call("GET", path)["rules"] == now["rules"]
    demo.call("PUT", path, {"rules": before})


def test_an_agent_is_registered_edited_and_retired(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit("ada")
    visitor.open("agents")
    visitor.page.get_by_role("button", name="Register an agent").click()
    fill(visitor, "Name", "Made here")
    visitor.press("Enter")
    expect(visitor.page.locator("h1")).to_have_text("Agent Made here")
    visitor.settled()

    visitor.page.get_by_role("button", name="Appoint a reader").click()
    fill(visitor, "Name or id of the user", "ben")
    visitor.press("Enter")
    expect(visitor.page.get_by_role("button", name="Dismiss")).to_have_count(2)

    visitor.page.get_by_role("button", name="Edit", exact=True).click()
    fill(visitor, "Description", "For a test")
    visitor.page.get_by_role("button", name="Save", exact=True).click()
    expect(visitor.page.locator("main")).to_contain_text("For a test")

    visitor.confirm("Retire", "Retire it for good")
    expect(visitor.page.locator("main")).to_contain_text("it is retired")


def test_a_connector_is_shared_with_a_warning(visit: Visit, demo: DemoData) -> None:
    visitor = visit("ada")
    visitor.open("connectors")
    visitor.page.get_by_role("button", name="Register a connector").click()
    fill(visitor, "Name", "Wiki")
    fill(visitor, "URL", "https://wiki.example/mcp")
    visitor.press("Enter")
    expect(visitor.page.locator("h1")).to_have_text("Connector Wiki")
    visitor.settled()

    visitor.page.get_by_role("button", name="Make public").click()
    dialog = visitor.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Everybody who can sign in")
    expect(dialog).to_contain_text("https://wiki.example/mcp")
    visitor.press("Escape")
    expect(dialog).to_have_count(0)
    expect(visitor.page.get_by_role("button", name="Make public")).to_be_focused()

    visitor.confirm("Make public")
    expect(visitor.page.locator(".facts")).to_contain_text("public")
    visitor.confirm("Make private")
    expect(visitor.page.locator(".facts")).to_contain_text("private")
    visitor.confirm("Retire", "Retire it for good")
    expect(visitor.page.locator("h1")).to_have_text("Connectors")
    visitor.settled()
    expect(visitor.page.locator("main")).not_to_contain_text("Wiki")


def test_a_secret_is_created_and_overwritten_and_never_shown(visit: Visit) -> None:
    visitor = visit("ben")
    visitor.open("secrets")
    expect(visitor.page.locator(".empty")).to_contain_text("no secrets")
    visitor.page.get_by_role("button", name="Create a secret").click()
    fill(visitor, "Name", "WIKI_TOKEN")
    fill(visitor, "Value", "hunter2-first")
    visitor.press("Enter")
    visitor.page.get_by_role("link", name="WIKI_TOKEN").click()
    visitor.settled()

    visitor.page.get_by_role("button", name="Overwrite").first.click()
    fill(visitor, "New value", "hunter2-second")
    visitor.press("Enter")
    rows = visitor.page.locator("main tbody tr")
    expect(rows).to_have_count(2)
    visitor.confirm("Restore")
    expect(rows).to_have_count(3)
    assert "hunter2" not in visitor.page.content()

    visitor.confirm("Delete", "Destroy all of its values")
    expect(visitor.page.locator("h1")).to_have_text("Secrets")


def test_users_tokens_and_roles(visit: Visit) -> None:
    visitor = visit("admin")
    visitor.open("users")
    visitor.page.get_by_role("button", name="Create a user").click()
    fill(visitor, "Name", "dora")
    visitor.press("Enter")
    expect(visitor.page.locator("h1")).to_have_text("User dora")
    visitor.settled()

    visitor.page.get_by_role("button", name="Issue a token").click()
    fill(visitor, "Label", "first")
    visitor.press("Enter")
    expect(visitor.page.locator("main")).to_contain_text(re.compile(r"art_\w{36}"))
    visitor.page.get_by_role("button", name="I have kept it").click()
    expect(visitor.page.locator("main")).not_to_contain_text("art_")

    visitor.confirm("Grant auditor")
    expect(visitor.page.locator(".facts")).to_contain_text("auditor")
    visitor.confirm("Revoke")
    expect(visitor.page.locator("main tbody")).to_contain_text("revoked")
    visitor.confirm("Disable")
    expect(visitor.page.locator(".facts")).to_contain_text("disabled")
    visitor.confirm("Erase", "Erase them for good")
    expect(visitor.page.locator("main")).to_contain_text("they are erased")


def test_a_price_is_set_corrected_and_ended(visit: Visit) -> None:
    visitor = visit("admin")
    visitor.open("prices")
    visitor.page.get_by_role("button", name="Set a price").click()
    fill(visitor, "Provider key", "openai")
    fill(visitor, "Model", "swift-1")
    fill(visitor, "Input price", "0.1234567")
    fill(visitor, "Output price", "2")
    visitor.press("Enter")
    expect(visitor.page.get_by_role("dialog")).to_have_count(0)
    visitor.open("prices/openai/swift-1")
    expect(visitor.page.locator("main tbody")).to_contain_text("0.1234567")

    visitor.page.get_by_role("button", name="Correct").first.click()
    fill(visitor, "Output price", "3")
    visitor.press("Enter")
    rows = visitor.page.locator("main tbody tr")
    expect(rows).to_have_count(2)
    visitor.confirm("End")
    expect(rows).to_have_count(3)


def test_a_provider_is_added_and_its_first_price_set(visit: Visit) -> None:
    visitor = visit("admin")
    visitor.open("prices")
    visitor.page.get_by_role("button", name="Add a provider").click()
    fill(visitor, "Key", "cellar")
    fill(visitor, "Name", "The machine in the cellar")
    visitor.press("Enter")
    expect(visitor.page.get_by_role("dialog")).to_have_count(0)

    visitor.page.get_by_role("button", name="Set a price").click()
    fill(visitor, "Provider key", "cellar")
    fill(visitor, "Model", "small-1")
    fill(visitor, "Input price", "0.5")
    visitor.press("Enter")
    expect(visitor.page.get_by_role("dialog")).to_have_count(0)
    visitor.open("prices?provider=cellar")
    row = visitor.page.locator("main tbody tr")
    expect(row).to_contain_text("The machine in the cellar")
    expect(row).to_contain_text("small-1")


def test_the_trail_is_exported(visit: Visit) -> None:
    visitor = visit("olga")
    visitor.open("audit?kind=connector")
    with visitor.page.expect_download() as saved:
        visitor.page.get_by_role("button", name="Export CSV").click()

    text = saved.value.path().read_text("utf-8")
    assert "connector.made_public" in text


def test_an_id_leads_to_its_page(visit: Visit, demo: DemoData) -> None:
    visitor = visit("admin")
    visitor.refusals_expected = True
    visitor.open("overview")
    visitor.page.get_by_placeholder("Find an id").fill(demo.connector_id)
    visitor.press("Enter")
    visitor.page.get_by_role("link", name="Connector", exact=True).click()

    expect(visitor.page.locator("h1")).to_have_text("Connector Issue tracker")
