"""What operators watch: followers that are current, behind and stopped; the relay."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.integration.console.browser.answers import answer
from tests.integration.console.browser.conftest import Counts, Visit
from tests.support.console.browser.service import HOSTILE

pytestmark = pytest.mark.thorough


def follower(name: str, lag: int = 0, stopped: str | None = None) -> dict[str, Any]:
    position = 1000 - lag
    return {
        "name": name,
        "position": position,
        "lag": lag,
        "lag_s": lag / 10,
        "stopped": stopped,
    }


def test_a_healthy_service_is_shown_to_everybody(visit: Visit) -> None:
    visitor = visit("ada").open("operation")

    expect(visitor.page.locator("main tbody tr")).not_to_have_count(0)
    visitor.shows(".cards", "✓ ready")
    visitor.shows(".cards", "not used")


def test_what_stopped_or_is_behind_is_named(visit: Visit, counts: Counts) -> None:
    visitor = visit("admin")
    found = "the event at position 7 was changed"
    followers = [
        follower("agents"),
        follower("relay", lag=25),
        follower("sessions", lag=3),
        follower("users", lag=9, stopped=HOSTILE),
    ]
    check = {"position": 5, "completed_at": None, "contradiction": found}
    state = {"status": "degraded", "log_position": 1000, "followers": followers}
    signing = "no checkpoint signed: the log ends before position 9"
    state |= {"log_check": check, "signing": signing}
    answer(visitor.page, "/console/readyz", state)
    visitor.open("operation")

    cards = visitor.page.locator(".cards")
    expect(cards).to_contain_text("degraded")
    expect(cards).to_contain_text(found)
    expect(cards).to_contain_text(signing)
    expect(cards).to_contain_text("published up to position 975, 25 events behind")
    rows = visitor.page.locator("main tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.filter(has_text="users")).to_contain_text(HOSTILE)
    expect(rows.filter(has_text="sessions")).to_contain_text("behind")
    visitor.shows(".warning", "retries every 30 s")
    counts.check(visitor, "operation, degraded")


def test_it_refreshes_until_stopped(visit: Visit) -> None:
    visitor = visit("admin").open("operation")
    with visitor.page.expect_request("**/console/readyz"):
        visitor.click("Refresh every")
    visitor.click("Stop refreshing")

    expect(visitor.page.get_by_role("button", name="Refresh every")).to_be_visible()
