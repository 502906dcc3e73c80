"""Giving and taking rights: grants, rules of a connector, roles, and being enabled."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.integration.console.browser.conftest import Visit
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough


@pytest.fixture
def connector(demo: DemoData) -> Iterator[str]:
    """A connector of ada's, which no agent holds."""
    body = {"name": "Diary", "url": "https://diary.example/mcp"}
    made = demo.call("POST", "/api/mcp/connectors", body, user="ada")
    yield made["id"]
    demo.remove_later(f"/api/mcp/connectors/{made['id']}", user="ada")


def grants(demo: DemoData, connector: str) -> Any:
    return demo.call("GET", f"/api/mcp/connectors/{connector}")["grants"]


def test_a_grant_is_given_and_revoked(
    visit: Visit, demo: DemoData, connector: str
) -> None:
    visitor = visit("admin").open(f"connectors/{connector}")
    visitor.click("Grant to an agent")
    dialog = visitor.page.get_by_role("dialog")
    dialog.get_by_label("Agent", exact=True).select_option(demo.agent_id)
    assert visitor.violations() == []
    dialog.get_by_role("button", name="Consent").click()

    expect(visitor.page.locator("main tbody").first).to_contain_text("✓ granted")
    (grant,) = grants(demo, connector)
    assert (grant["agent_id"], grant["state"]) == (demo.agent_id, "granted")

    visitor.confirm("Revoke")
    expect(
        visitor.page.get_by_text("No agent that you may see holds it")
    ).to_be_visible()
    assert grants(demo, connector) == []


def test_the_rules_for_one_connector_are_removed(
    visit: Visit, demo: DemoData, connector: str
) -> None:
    path = f"/api/mcp/agents/{demo.agent_id}/tools"
    before = demo.call("GET", path)["rules"]
    demo.call("PUT", f"/api/mcp/connectors/{connector}/grants/agents/{demo.agent_id}")
    rule = {"connector_id": connector, "tool_pattern": "events.*", "stance": "allow"}
    demo.call("PUT", path, {"rules": [*before, rule]})
    visitor = visit("admin").open(f"agents/{demo.agent_id}")
    section = visitor.page.locator("main section").filter(
        has=visitor.page.get_by_role("heading", name="Diary")
    )
    section.get_by_role("button", name="Remove these rules").click()
    dialog = visitor.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Every tool of Diary is denied")
    dialog.get_by_role("button", name="Remove these rules").click()

    expect(section).to_have_count(0)
    assert demo.call("GET", path)["rules"] == before


def test_a_disabled_user_is_enabled_and_loses_a_role(
    visit: Visit, demo: DemoData
) -> None:
    body = {"name": "carl", "roles": ["auditor"]}
    path = f"/api/users/{demo.call('POST', '/api/users', body)['id']}"
    demo.call("PUT", f"{path}/disabled")
    visitor = visit("admin").open(path.removeprefix("/api/"))

    visitor.confirm("Enable")
    visitor.shows(".facts", "active")
    visitor.confirm("Revoke auditor")
    visitor.shows(".facts", "none")
    user = demo.call("GET", path)
    assert (user["is_disabled"], user["roles"]) == (False, [])
