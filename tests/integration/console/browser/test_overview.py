"""The overview: what needs a hand is said at first sight."""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import UUID

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.integration.console.browser.answers import Held, answer, as_usual, refuse
from tests.integration.console.browser.conftest import Counts, Visit
from tests.integration.console.browser.test_definitions import changed_tools, path_of
from tests.integration.console.browser.visitor import Visitor
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough


def card(visitor: Visitor, title: str) -> Locator:
    return visitor.page.locator(".card").filter(
        has=visitor.page.get_by_role("heading", name=title)
    )


def follower(name: str, **members: Any) -> dict[str, Any]:
    return {
        "name": name,
        "position": 90,
        "lag": 0,
        "lag_s": 0.0,
        "stopped": None,
        **members,
    }


def readiness(**members: Any) -> dict[str, Any]:
    return {
        "status": "degraded",
        "log_position": 100,
        "followers": [follower("agents")],
        "follower_process": "running",
        "log_check": None,
        "signing": None,
        "trace_store": None,
        **members,
    }


def test_what_agents_did_last_is_shown_with_the_reasons_and_the_costs(
    visit: Visit, demo: DemoData
) -> None:
    demo.call_tool("list_issues", {})
    demo.call_tool("delete_issue", {"number": 1})
    demo.ask("The latest")
    visitor = visit("admin").open("overview")

    calls = visitor.page.get_by_role("region", name="Latest tool calls").locator("tr")
    expect(calls.filter(has_text="list_issues").first).to_contain_text("✓ allow list_*")
    denied = calls.filter(has_text="delete_issue").first
    expect(denied).to_contain_text("denied by the rules")
    sessions = visitor.page.get_by_role("region", name="Latest sessions")
    expect(sessions.locator("tbody tr").first).to_contain_text("USD")
    calls.get_by_role("link", name="waits for a person").first.click()
    expect(visitor.page.locator("h1")).to_have_text("Approval")


def test_definitions_that_wait_are_counted_and_lead_to_their_page(
    visit: Visit, demo: DemoData, counts: Counts
) -> None:
    visitor = visit("ada")
    answer(visitor.page, path_of(demo), changed_tools(demo))
    visitor.open("overview")

    waiting = card(visitor, "Tool definitions to accept")
    expect(waiting).to_contain_text("1 changed, 1 new")
    expect(waiting.locator(".figure")).to_have_text("2")
    counts.check(visitor, "overview, definitions wait")
    waiting.get_by_role("link", name="Issue tracker").click()
    expect(visitor.page.locator("h1")).to_have_text("Definitions of Issue tracker")


def test_accepting_definitions_needs_the_connector(visit: Visit) -> None:
    visitor = visit("ben").open("overview")

    waiting = card(visitor, "Tool definitions to accept")
    expect(waiting).to_contain_text("you own no connector")


def test_connectors_whose_calls_fail_are_named_with_the_cause(
    visit: Visit, demo: DemoData, counts: Counts
) -> None:
    visitor = visit("admin")
    call = demo.call("GET", f"/api/mcp/calls/{demo.call_id}")
    failed = {**call, "outcome": "upstream_error"}
    suspended = {
        **call,
        "id": demo.approval_id,
        "decision": "refused",
        "reason": "circuit_open",
        "outcome": None,
        "times": 7,
    }
    calls = {"calls": [failed, suspended], "end_cursor": None}
    answer(visitor.page, "/api/mcp/calls", calls)
    visitor.open("overview")

    failing = card(visitor, "Failing connectors")
    expect(failing).to_contain_text("Issue tracker")
    expect(failing).to_contain_text("server error")
    expect(failing).to_contain_text("suspended after failures")
    counts.check(visitor, "overview, connectors fail")


def test_what_was_not_looked_at_completely_is_not_green(
    visit: Visit, demo: DemoData, counts: Counts
) -> None:
    visitor = visit("admin")
    (one,) = demo.call("GET", "/api/mcp/connectors?limit=1")["connectors"]
    ids = [str(UUID(int=number)) for number in range(41)]
    connectors = [one | {"id": each, "name": each[-2:]} for each in ids]
    for each in ids:
        path = f"/api/mcp/connectors/{each}/definitions"
        answer(visitor.page, path, {"connector_id": each, "tools": []})

    def listed(route: Route) -> None:
        is_filtered = re.search("health=|scope=", route.request.url)
        rows = [] if is_filtered else connectors
        route.fulfill(json={"data": {"connectors": rows, "end_cursor": None}})

    visitor.page.route(re.compile(r"/api/mcp/connectors\?"), listed)
    answer(visitor.page, "/api/mcp/calls", {"calls": [], "end_cursor": "1"})
    visitor.open("overview")

    waiting = card(visitor, "Tool definitions to accept")
    expect(waiting).to_contain_text("Only 40 connectors of 41 were looked at")
    failing = card(visitor, "Failing connectors")
    for part in (waiting, failing):
        expect(part).to_have_class("card unknown")
        expect(part.locator(".state")).to_have_text("not all looked at")
        expect(part.locator(".figure")).to_have_text("\u2013")
    said = visitor.page.locator(".attention .unknown")
    expect(said).to_contain_text("Not looked at completely: Tool definitions to accept")
    counts.check(visitor, "overview, not looked at completely")


def test_stopped_and_late_parts_of_the_service_are_named(
    visit: Visit, counts: Counts
) -> None:
    visitor = visit("admin")
    data = readiness(
        followers=[
            follower("agents", stopped="it can't apply event 91"),
            follower("relay", lag=10, lag_s=300.5),
            follower("usage", lag=1, lag_s=0.1),
        ],
        follower_process="ended",
        trace_store="suspended",
    )
    answer(visitor.page, "/console/readyz", data)
    visitor.open("overview")

    service = card(visitor, "Service")
    for said in (
        "The follower agents has stopped.",
        "The relay to Kafka is 5 min 1 s behind.",
        "The process of the followers has ended and is started again.",
        "The trace store is suspended after failures.",
    ):
        expect(service).to_contain_text(said)
    expect(service).not_to_contain_text("usage")
    counts.check(visitor, "overview, degraded")


NO_APPROVALS: Final[Mapping[str, Any]] = {"approvals": [], "end_cursor": None}
NO_CALLS: Final[Mapping[str, Any]] = {"calls": [], "end_cursor": None}
NO_CONNECTORS: Final[Mapping[str, Any]] = {"connectors": [], "end_cursor": None}


def test_the_first_sentence_says_what_needs_a_hand(
    visit: Visit, demo: DemoData, counts: Counts
) -> None:
    visitor = visit("admin", refusals_expected=True)
    answer(visitor.page, "/console/readyz", readiness(status="ready"))
    answer(visitor.page, "/api/mcp/approvals", NO_APPROVALS)
    answer(visitor.page, "/api/mcp/calls", NO_CALLS)
    answer(visitor.page, "/api/mcp/connectors", NO_CONNECTORS)
    refuse(visitor.page, "/api/usage", 503, "unavailable", "no connection is free")
    visitor.open("overview")

    said = visitor.page.locator(".attention")
    expect(said).not_to_contain_text("Looking")
    expect(said.locator(".bad")).to_contain_text("Needs a hand: Cost today (UTC)")
    expect(said.locator(".warn")).to_contain_text("Sessions with errors, last day")
    expect(said).not_to_contain_text("Approvals waiting")
    expect(card(visitor, "Cost today")).to_contain_text("no connection is free")
    counts.check(visitor, "overview, failed")

    as_usual(visitor.page, "/api/usage")
    visitor.click("Try again")
    expect(said.locator(".bad")).to_have_count(0)


def test_nothing_needs_a_hand(visit: Visit, counts: Counts) -> None:
    visitor = visit("ben")
    answer(visitor.page, "/console/readyz", readiness(status="ready"))
    answer(visitor.page, "/api/mcp/approvals", NO_APPROVALS)
    answer(visitor.page, "/api/mcp/calls", NO_CALLS)
    sessions = {"sessions": [], "pagination": {"has_next_page": False}}
    answer(visitor.page, "/api/observability/session/list", sessions)
    answer(visitor.page, "/api/mcp/connectors", {"connectors": [], "end_cursor": None})
    visitor.open("overview")

    expect(visitor.page.locator(".attention")).to_have_text("✓ Nothing needs a hand.")
    counts.check(visitor, "overview, empty")


def test_a_slow_overview_says_that_it_looks(visit: Visit, counts: Counts) -> None:
    visitor = visit("admin")
    held = Held(visitor.page, "/console/readyz")
    visitor.page.goto(f"{visitor.url}/console#/overview")

    said = visitor.page.locator(".attention")
    expect(said).to_contain_text("Looking")
    expect(card(visitor, "Service")).to_contain_text("longer than usual")
    counts.check(visitor, "overview, slow")
    held.release()
    expect(said).not_to_contain_text("Looking")
    visitor.settled()


def windows(visitor: Visitor) -> dict[str, str]:
    """Return the start of the window of each request that has one."""
    found = {}
    for each in visitor.requests:
        path, query = urlsplit(each).path, parse_qs(urlsplit(each).query)
        start = query.pop("start_time", None) or query.pop("from_time", None)
        if start:
            found[f"{path}?{urlencode(query, doseq=True)}"] = start[0]
    return found


def test_the_last_hour_is_that_before_the_page_was_refreshed(visit: Visit) -> None:
    visitor = visit("admin").open("overview")
    opened = windows(visitor)
    visitor.requests.clear()
    visitor.click("Refresh")
    visitor.settled()
    refreshed = windows(visitor)

    assert opened
    assert refreshed.keys() == opened.keys()
    for read, start in refreshed.items():
        assert start > opened[read]


def test_connectors_that_were_not_looked_at_are_said(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit("admin")
    (one,) = demo.call("GET", "/api/mcp/connectors?limit=1")["connectors"]
    one |= {"health_message": "refused", "health_at": "2026-01-01T00:00:00Z"}
    body = {"data": {"connectors": [one], "end_cursor": "1"}}
    visitor.page.route("**/connectors?health=*", lambda route: route.fulfill(json=body))
    answer(visitor.page, "/api/mcp/calls", {"calls": [], "end_cursor": None})
    visitor.open("overview")

    failing = card(visitor, "Failing connectors")
    expect(failing).to_contain_text("only the first 1 were looked at")
    expect(failing).not_to_contain_text("last hour's calls")


def test_approvals_are_read_once_for_all_that_shows_them(visit: Visit) -> None:
    visitor = visit("admin").open("overview")
    for times in (1, 2):
        asked = [each for each in visitor.requests if "/approvals?" in each]
        assert len(asked) == times
        visitor.click("Refresh")
        visitor.settled()
