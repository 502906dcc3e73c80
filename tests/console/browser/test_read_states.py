"""Pages that read a list: empty, slow, failed and then not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pytest
from playwright.sync_api import expect

from tests.console.browser.answers import Held, answer, as_usual, refuse
from tests.console.browser.conftest import Counts, Visit

pytestmark = pytest.mark.processes


@dataclass(frozen=True, slots=True)
class ListPage:
    """A page by its address: what it reads, and what it says without a row."""

    reads: str
    empty: Mapping[str, Any]
    says: str


PAGES: Final[Mapping[str, ListPage]] = {
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
        "/readyz",
        {"status": "ready", "log_position": 0, "followers": [], "log_check": None},
        "No process runs the followers",
    ),
}


@pytest.mark.parametrize("name", PAGES)
def test_an_empty_list_says_how_it_gets_rows(
    visit: Visit, counts: Counts, name: str
) -> None:
    visitor = visit("admin")
    answer(visitor.page, PAGES[name].reads, PAGES[name].empty)
    visitor.open(name)

    expect(visitor.page.locator(".empty").first).to_contain_text(PAGES[name].says)
    assert visitor.violations() == []
    counts.axe_checks += 1
    counts.states.add(f"{name}, empty")


@pytest.mark.parametrize("name", PAGES)
def test_a_failed_read_says_so_and_can_be_repeated(
    visit: Visit, counts: Counts, name: str
) -> None:
    visitor = visit("admin")
    visitor.refusals_expected = True
    path = PAGES[name].reads
    refuse(visitor.page, path, 503, "unavailable", "the database can't be reached")
    visitor.open(name)

    alert = visitor.page.get_by_role("alert")
    expect(alert).to_contain_text("the database can't be reached")
    assert visitor.violations() == []
    counts.axe_checks += 1
    counts.states.add(f"{name}, failed")
    as_usual(visitor.page, path)
    visitor.page.get_by_role("button", name="Try again").click()
    expect(alert).to_have_count(0)
    visitor.settled()


@pytest.mark.parametrize("name", PAGES)
def test_a_slow_read_says_that_it_is_slow(
    visit: Visit, counts: Counts, name: str
) -> None:
    visitor = visit("admin")
    held = Held(visitor.page, PAGES[name].reads)
    visitor.page.goto(f"{visitor.url}/console#/{name}")

    working = visitor.page.locator("main .working").first
    expect(working).to_contain_text("longer than usual")
    assert visitor.violations() == []
    counts.axe_checks += 1
    counts.states.add(f"{name}, slow")
    held.release()
    visitor.settled()
