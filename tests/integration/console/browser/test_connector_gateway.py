"""A connector's settings for the gateway: slug, record mode, credential."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.integration.console.browser.answers import answer
from tests.integration.console.browser.conftest import Visit
from tests.integration.console.browser.visitor import Visitor
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough


@pytest.fixture
def connector(demo: DemoData) -> Iterator[str]:
    """A connector of ada's, who has one secret more."""
    body = {"name": "Forms", "url": "https://forms.example/mcp", "description": ""}
    made = demo.call("POST", "/api/mcp/connectors", body, user="ada")
    secret = {"name": "FORMS_TOKEN", "value": "not-to-be-shown"}
    demo.call("POST", "/api/secrets", secret, user="ada")
    yield made["id"]
    demo.remove_later(f"/api/mcp/connectors/{made['id']}", user="ada")
    demo.remove_later("/api/secrets/FORMS_TOKEN", user="ada")


def read(demo: DemoData, connector: str) -> Any:
    return demo.call("GET", f"/api/mcp/connectors/{connector}", user="ada")


def save(visitor: Visitor) -> None:
    dialog = visitor.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    visitor.settled()


def test_slug_and_record_mode_are_changed(
    visit: Visit, demo: DemoData, connector: str
) -> None:
    visitor = visit("ada").open(f"connectors/{connector}")
    visitor.click("Gateway settings")
    visitor.page.get_by_label("Tool name prefix").fill("forms-2")
    visitor.page.get_by_label("Record mode").select_option("batched")
    visitor.page.get_by_label("Protocol revision").select_option("2025-06-18")
    assert visitor.violations() == []
    save(visitor)

    visitor.shows(".facts >> nth=0", "forms-2")
    visitor.shows(".facts >> nth=0", "in batches")
    visitor.shows(".facts >> nth=0", "in MCP 2025-06-18")
    found = read(demo, connector)
    assert (found["slug"], found["record_mode"]) == ("forms-2", "batched")
    assert found["protocol_revision"] == "2025-06-18"


def test_names_that_agents_see_change_with_a_warning(
    visit: Visit, demo: DemoData, connector: str
) -> None:
    agent = demo.call("POST", "/api/catalog/agents", {"name": "Filler"}, user="ada")
    grant = f"/api/mcp/connectors/{connector}/grants/agents/{agent['id']}"
    demo.call("PUT", grant, user="ada")
    visitor = visit("ada").open(f"connectors/{connector}")
    visitor.click("Gateway settings")
    visitor.page.get_by_label("Tool name prefix").fill("papers")
    save(visitor)

    visitor.shows(".warning", "see its tools as 'papers_...' instead of 'forms_...'")
    assert visitor.violations() == []
    demo.remove_later(f"/api/catalog/agents/{agent['id']}", user="ada")


def test_a_credential_that_came_back_is_shown(
    visit: Visit, demo: DemoData, connector: str
) -> None:
    path = f"/api/mcp/connectors/{connector}"
    sent = {"whose": "owner", "secret_name": "FORMS_TOKEN"}
    demo.call("PUT", f"{path}/credential", sent, user="ada")
    health = demo.call("GET", f"{path}/health", user="ada")
    assert health["credential_returned"] is None
    visitor = visit("ada")
    returned = {
        "count": 3,
        "last_at": "2026-03-01T12:30:00Z",
        "message": "its server sends it back; stop it",
    }
    answer(visitor.page, f"{path}/health", health | {"credential_returned": returned})
    visitor.open(f"connectors/{connector}")

    visitor.shows(".warning", "3 answers of its server had the credential in it")
    visitor.shows(".warning", "its server sends it back; stop it")
    assert visitor.violations() == []


def test_errors_are_shown_at_their_field(
    visit: Visit, demo: DemoData, connector: str
) -> None:
    visitor = visit("ada", refusals_expected=True).open(f"connectors/{connector}")
    before = read(demo, connector)
    visitor.click("Gateway settings")
    slug = visitor.page.get_by_label("Tool name prefix")
    slug.fill("Not A Slug")
    visitor.click("Save")

    expect(slug).to_have_attribute("aria-invalid", "true")
    expect(slug).to_have_accessible_description(  # the API's words
        "✕ must have 1 to 24 characters of a-z 0-9 -, and neither begin nor end with -"
        " Agents see the tools under other names once it changes; rules stay as they "
        "are."
    )
    assert visitor.violations() == []
    assert read(demo, connector) == before

    slug.fill("a-slug")
    save(visitor)
    assert read(demo, connector)["slug"] == "a-slug"


def test_settings_that_changed_meanwhile_are_not_overwritten(
    visit: Visit, demo: DemoData, connector: str
) -> None:
    visitor = visit("ada", refusals_expected=True).open(f"connectors/{connector}")
    visitor.click("Gateway settings")
    other = {"slug": "of-another", "record_mode": "strict"}
    path = f"/api/mcp/connectors/{connector}/gateway"
    demo.call("PUT", path, other, user="ada")
    visitor.page.get_by_label("Tool name prefix").fill("mine")
    visitor.click("Save")

    alert = visitor.page.get_by_role("alert")
    expect(alert).to_contain_text("It has changed since you read it")
    assert read(demo, connector)["slug"] == "of-another"


def test_a_credential_is_attached_changed_and_detached(
    visit: Visit, demo: DemoData, connector: str
) -> None:
    visitor = visit("ada").open(f"connectors/{connector}")
    visitor.page.get_by_role("button", name="Credential", exact=True).click()
    visitor.page.get_by_label("Secret", exact=True).select_option("FORMS_TOKEN")
    visitor.page.get_by_label("Header").fill("X-Api-Key")
    visitor.page.get_by_label("Scheme").fill("")
    assert visitor.violations() == []
    save(visitor)
    facts = visitor.page.locator(".facts").first
    expect(facts).to_contain_text("a secret of its owner, as X-Api-Key: …")
    of_owner = {"whose": "owner", "header": "X-Api-Key", "scheme": None}
    assert read(demo, connector)["credential"] == of_owner

    visitor.page.get_by_role("button", name="Credential", exact=True).click()
    visitor.page.get_by_label("Whose secret").select_option("caller")
    expect(visitor.page.get_by_label("Secret", exact=True)).to_have_count(0)
    save(visitor)
    expect(facts).to_contain_text(f"mcp.{connector}")
    assert read(demo, connector)["credential"] == {**of_owner, "whose": "caller"}

    visitor.click("Detach the credential")
    visitor.click("Detach it")
    expect(facts).to_contain_text("none is sent")
    assert read(demo, connector)["credential"] is None
    assert "not-to-be-shown" not in visitor.page.content()


def test_a_public_connector_is_not_offered_its_owners_secret(
    visit: Visit, demo: DemoData, connector: str
) -> None:
    demo.call("POST", f"/api/mcp/connectors/{connector}/grants/public", user="ada")
    visitor = visit("ada").open(f"connectors/{connector}")
    visitor.page.get_by_role("button", name="Credential", exact=True).click()

    options = visitor.page.get_by_label("Whose secret").locator("option")
    expect(options).to_have_text(["the calling user's own"])


def test_a_superuser_attaches_no_credential_for_the_owner(
    visit: Visit, connector: str
) -> None:
    visitor = visit("admin").open(f"connectors/{connector}")

    expect(
        visitor.page.get_by_text("Attaching a credential: for its owner.")
    ).to_be_visible()
    expect(
        visitor.page.get_by_role("button", name="Credential", exact=True)
    ).to_have_count(0)
    expect(visitor.page.get_by_role("button", name="Gateway settings")).to_be_visible()
