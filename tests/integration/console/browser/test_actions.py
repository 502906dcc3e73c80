"""Each action of the console, done as a person does it, and checked in the API."""

import re

import pytest
from playwright.sync_api import expect

from tests.integration.console.browser.conftest import Visit
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough


def test_an_agent_is_registered_edited_and_retired(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit("ada").open("agents")
    visitor.click("Register an agent")
    visitor.send({"Name": "Made here"})
    expect(visitor.page.locator("h1")).to_have_text("Agent Made here")
    visitor.settled()

    visitor.click("Appoint a reader")
    visitor.send({"Name or id of the user": "ben"})
    expect(visitor.page.get_by_role("button", name="Dismiss")).to_have_count(2)

    visitor.page.get_by_role("button", name="Edit", exact=True).click()
    visitor.page.get_by_label("Description", exact=True).fill("For a test")
    visitor.page.get_by_role("button", name="Save", exact=True).click()
    visitor.shows("main", "For a test")

    visitor.confirm("Retire", "Retire it for good")
    visitor.shows("main", "it is retired")


def test_a_connector_is_shared_with_a_warning(visit: Visit, demo: DemoData) -> None:
    visitor = visit("ada").open("connectors")
    visitor.click("Register a connector")
    visitor.send({"Name": "Wiki", "URL": "https://wiki.example/mcp"})
    expect(visitor.page.locator("h1")).to_have_text("Connector Wiki")
    visitor.settled()

    visitor.click("Make public")
    dialog = visitor.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Everybody who can sign in")
    expect(dialog).to_contain_text("https://wiki.example/mcp")
    visitor.press("Escape")
    expect(dialog).to_have_count(0)
    expect(visitor.page.get_by_role("button", name="Make public")).to_be_focused()

    visitor.confirm("Make public")
    visitor.shows(".facts >> nth=0", "public")
    visitor.confirm("Make private")
    visitor.shows(".facts >> nth=0", "private")
    visitor.confirm("Retire", "Retire it for good")
    expect(visitor.page.locator("h1")).to_have_text("Connectors")
    visitor.settled()
    expect(visitor.page.locator("main")).not_to_contain_text("Wiki")


def test_a_secret_is_created_and_overwritten_and_never_shown(visit: Visit) -> None:
    visitor = visit("ben").open("secrets")
    visitor.shows(".empty", "no secrets")
    visitor.click("Create a secret")
    visitor.send({"Name": "WIKI_TOKEN", "Value": "hunter2-first"})
    visitor.page.get_by_role("link", name="WIKI_TOKEN").click()
    visitor.settled()

    visitor.page.get_by_role("button", name="Overwrite").first.click()
    visitor.send({"New value": "hunter2-second"})
    rows = visitor.page.locator("main tbody tr")
    expect(rows).to_have_count(2)
    visitor.confirm("Restore")
    expect(rows).to_have_count(3)
    assert "hunter2" not in visitor.page.content()

    visitor.confirm("Delete", "Destroy all of its values")
    expect(visitor.page.locator("h1")).to_have_text("Secrets")


def test_users_tokens_and_roles(visit: Visit) -> None:
    visitor = visit("admin").open("users")
    visitor.click("Create a user")
    visitor.send({"Name": "dora"})
    expect(visitor.page.locator("h1")).to_have_text("User dora")
    visitor.settled()

    visitor.click("Issue a token")
    visitor.send({"Label": "first"})
    visitor.shows("main", re.compile(r"art_\w{36}"))
    visitor.click("I have kept it")
    expect(visitor.page.locator("main")).not_to_contain_text("art_")

    visitor.confirm("Grant auditor")
    visitor.shows(".facts", "auditor")
    visitor.confirm("Revoke")
    visitor.shows("main tbody", "revoked")
    visitor.confirm("Disable")
    visitor.shows(".facts", "disabled")
    visitor.confirm("Erase", "Erase them for good")
    visitor.shows("main", "they are erased")


def test_a_price_is_set_corrected_and_ended(visit: Visit) -> None:
    visitor = visit("admin").open("prices")
    visitor.click("Set a price")
    visitor.send(
        {
            "Provider key": "openai",
            "Model": "swift-1",
            "Input price": "0.1234567",
            "Output price": "2",
        }
    )
    expect(visitor.page.get_by_role("dialog")).to_have_count(0)
    visitor.open("prices/openai/swift-1")
    visitor.shows("main tbody", "0.1234567")

    visitor.page.get_by_role("button", name="Correct").first.click()
    visitor.send({"Output price": "3"})
    rows = visitor.page.locator("main tbody tr")
    expect(rows).to_have_count(2)
    visitor.confirm("End")
    expect(rows).to_have_count(3)


def test_a_provider_is_added_and_its_first_price_set(visit: Visit) -> None:
    visitor = visit("admin").open("prices")
    visitor.click("Add a provider")
    visitor.send({"Key": "cellar", "Name": "The machine in the cellar"})
    expect(visitor.page.get_by_role("dialog")).to_have_count(0)

    visitor.click("Set a price")
    visitor.send({"Provider key": "cellar", "Model": "small-1", "Input price": "0.5"})
    expect(visitor.page.get_by_role("dialog")).to_have_count(0)
    visitor.open("prices?provider=cellar")
    row = visitor.page.locator("main tbody tr")
    expect(row).to_contain_text("The machine in the cellar")
    expect(row).to_contain_text("small-1")


def test_the_trail_is_exported(visit: Visit) -> None:
    visitor = visit("olga").open("audit?kind=connector")
    with visitor.page.expect_download() as saved:
        visitor.click("Export CSV")

    text = saved.value.path().read_text("utf-8")
    assert "connector.made_public" in text


def test_an_id_leads_to_its_page(visit: Visit, demo: DemoData) -> None:
    visitor = visit("admin", refusals_expected=True).open("overview")
    visitor.page.get_by_placeholder("Find an id").fill(demo.connector_id)
    visitor.press("Enter")
    visitor.page.get_by_role("link", name="Connector", exact=True).click()

    expect(visitor.page.locator("h1")).to_have_text("Connector Issue tracker")
