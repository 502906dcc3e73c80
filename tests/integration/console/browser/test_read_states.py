"""Pages that read: empty, slow, failed and then not."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pytest
from playwright.sync_api import expect

from tests.integration.console.browser.answers import Held, answer, as_usual, refuse
from tests.integration.console.browser.conftest import Counts, Visit
from tests.support.console.browser.pages import PAGES
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough


@dataclass(frozen=True, slots=True)
class ListPage:
    """A page by its address: what it reads, and what it says without a row."""

    reads: str
    empty: Any
    says: str


LISTS: Final[Mapping[str, ListPage]] = {
    "agents": ListPage(
        "/api/catalog/agents",
        {"agents": [], "end_cursor": None},
        "No agents that you may see",
    ),
    "connectors": ListPage(
        "/api/mcp/connectors",
        {"connectors": [], "end_cursor": None},
        "No connectors that you can see",
    ),
    "prices": ListPage("/api/llm-router/providers", [], "No model has a price"),
    "usage": ListPage("/api/usage", {"usage": []}, "No turns were recorded"),
    "audit": ListPage(
        "/api/audit/events", {"entries": [], "end_cursor": None}, "No entry matches"
    ),
    "approvals": ListPage(
        "/api/mcp/approvals",
        {"approvals": [], "end_cursor": None},
        "Nobody waits for an approval",
    ),
    "calls": ListPage(
        "/api/mcp/calls", {"calls": [], "end_cursor": None}, "No call matches"
    ),
    "users": ListPage("/api/users", {"users": [], "end_cursor": None}, "No users"),
    "secrets": ListPage(
        "/api/secrets", {"secrets": [], "end_cursor": None}, "You have no secrets"
    ),
    "operation": ListPage(
        "/console/readyz",
        {"status": "ready", "log_position": 0, "followers": [], "log_check": None},
        "No process runs the followers",
    ),
}


# Pages of one thing, and what they read first.
ONES: Final[Mapping[str, Callable[[DemoData], str]]] = {
    "agent": lambda demo: f"/api/catalog/agents/{demo.agent_id}",
    "approval": lambda _: "/api/mcp/approvals",
    "call": lambda demo: f"/api/mcp/calls/{demo.call_id}",
    "connector": lambda demo: f"/api/mcp/connectors/{demo.connector_id}",
    "definitions": lambda demo: f"/api/mcp/connectors/{demo.connector_id}/definitions",
    "entry": lambda demo: f"/api/audit/events/{demo.position}",
    "explain": lambda demo: f"/api/mcp/agents/{demo.agent_id}/tools/explain",
    "explain-all": lambda demo: f"/api/mcp/connectors/{demo.connector_id}",
    "price": lambda _: "/api/llm-router/prices",
    "secret": lambda _: "/api/secrets/TRACKER_TOKEN",
    "session": lambda demo: f"/api/observability/session/{demo.session_id}",
    "user": lambda demo: f"/api/users/{demo.user_id}",
}
# Secrets are for their owner alone.
SEEN_BY: Final = {"secret": "ada"}


def address_and_path(name: str, demo: DemoData) -> tuple[str, str]:
    if name in LISTS:
        return name, LISTS[name].reads
    return PAGES[name](demo), ONES[name](demo)


@pytest.mark.parametrize("name", LISTS)
def test_an_empty_list_says_how_it_gets_rows(
    visit: Visit, counts: Counts, name: str
) -> None:
    visitor = visit("admin")
    answer(visitor.page, LISTS[name].reads, LISTS[name].empty)
    visitor.open(name)

    expect(visitor.page.locator(".empty").first).to_contain_text(LISTS[name].says)
    counts.check(visitor, f"{name}, empty")


@pytest.mark.parametrize("name", [*LISTS, *ONES])
def test_a_failed_read_says_so_and_can_be_repeated(
    visit: Visit, demo: DemoData, counts: Counts, name: str
) -> None:
    visitor = visit(SEEN_BY.get(name, "admin"), refusals_expected=True)
    address, path = address_and_path(name, demo)
    refuse(visitor.page, path, 503, "unavailable", "the database can't be reached")
    visitor.open(address)

    alert = visitor.page.get_by_role("alert")
    expect(alert.first).to_contain_text("the database can't be reached")
    counts.check(visitor, f"{name}, failed")
    as_usual(visitor.page, path)
    for again in reversed(visitor.page.get_by_role("button", name="Try again").all()):
        again.click()
    expect(alert).to_have_count(0)
    visitor.settled()


@pytest.mark.parametrize("name", [*LISTS, *ONES])
def test_a_slow_read_says_that_it_is_slow(
    visit: Visit, demo: DemoData, counts: Counts, name: str
) -> None:
    visitor = visit(SEEN_BY.get(name, "admin"))
    address, path = address_and_path(name, demo)
    held = Held(visitor.page, path)
    visitor.page.goto(f"{visitor.url}/console#/{address}")

    working = visitor.page.locator("main .working").first
    expect(working).to_contain_text("longer than usual")
    counts.check(visitor, f"{name}, slow")
    held.release()
    visitor.settled()
