"""Tool calls of agents: the list with its filters, one call, and hostile names."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.integration.console.browser.answers import answer
from tests.integration.console.browser.conftest import Counts, Visit
from tests.support.console.browser.service import HOSTILE, DemoData

pytestmark = pytest.mark.thorough


def test_calls_are_filtered_and_a_link_restores_it(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit("ben").open("calls")
    rows = visitor.page.locator("main tbody tr")
    expect(rows.filter(has_text="delete_issue").first).to_contain_text("denied by")
    expect(rows.filter(has_text="list_issues").first).to_contain_text("✓ ok")

    visitor.page.get_by_label("Decision", exact=True).select_option("admitted")
    visitor.page.get_by_label("Outcome", exact=True).select_option("ok")
    visitor.page.get_by_label("Tool", exact=True).fill("list_issues")
    visitor.page.get_by_label("From", exact=True).fill("2020-01-01")
    visitor.click("Apply")
    visitor.settled()
    expect(rows.filter(has_text="refused")).to_have_count(0)
    shown = rows.all_inner_texts()
    assert shown
    since = "start_time=2020-01-01T00%3A00%3A00.000Z"
    assert [each for each in visitor.requests if since in each]

    other = visit("ben")
    other.page.goto(visitor.page.url.replace(visitor.url, other.url))
    other.settled()
    expect(other.page.get_by_label("Tool", exact=True)).to_have_value("list_issues")
    others = other.page.locator("main tbody tr")
    expect(others).to_have_text(shown, use_inner_text=True)


def test_a_malformed_time_is_reported_before_sending(
    visit: Visit, counts: Counts
) -> None:
    visitor = visit("ben").open("calls?from=yesterday")

    expect(visitor.page.get_by_role("alert")).to_contain_text("“yesterday” is no time")
    assert not [each for each in visitor.requests if "/mcp/calls" in each]
    counts.check(visitor, "calls, wrong time")


def test_a_call_leads_to_its_reasons(visit: Visit, demo: DemoData) -> None:
    visitor = visit("ben").open("calls?tool=list_issues")
    visitor.page.locator("main tbody tr a").first.click()
    expect(visitor.page.locator("h1")).to_have_text("Tool call")
    visitor.settled()

    decisive = visitor.page.locator("main tbody tr").filter(has_text="decides")
    expect(decisive).to_contain_text("list_*")
    expect(decisive).to_contain_text("verify position")
    visitor.shows(".facts", "Support triage")
    visitor.page.get_by_role("link", name="Compare with now").click()
    visitor.shows("main", "the same at both times")


def test_a_call_for_another_user_is_hidden(
    visit: Visit, demo: DemoData, counts: Counts
) -> None:
    dave = demo.call("POST", "/api/users", {"name": "carl-of-calls", "roles": []})
    path = f"/api/users/{dave['id']}/tokens"
    token = demo.call("POST", path, {"label": "browser"})["token"]
    visitor = visit(None, refusals_expected=True)
    visitor.sign_in(token)
    visitor.open("calls")
    visitor.shows(".empty", "No call matches")
    visitor.open("approvals")
    visitor.shows(".empty", "Nobody waits")
    visitor.open(f"calls/{demo.call_id}")

    expect(visitor.page.get_by_role("alert")).to_contain_text("Not found")
    counts.check(visitor, "call, not visible")


def call_of(demo: DemoData, **changes: Any) -> dict[str, Any]:
    call = demo.call("GET", f"/api/mcp/calls/{demo.call_id}")
    return {**call, **changes}


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        ("tool_error", "answered with an error"),
        ("upstream_error", "can't be reached"),
        ("timeout", "did not answer in time"),
        ("running", "isn't recorded yet"),
        ("unknown", "never recorded"),
    ],
)
def test_outcomes_are_said_in_words(
    visit: Visit, demo: DemoData, outcome: str, text: str
) -> None:
    visitor = visit("admin")
    path = f"/api/mcp/calls/{demo.call_id}"
    answer(visitor.page, path, call_of(demo, outcome=outcome, duration_ms=None))
    visitor.open(f"calls/{demo.call_id}")

    visitor.shows("main", text)


def test_hostile_names_of_tools_are_shown_as_text(
    visit: Visit, demo: DemoData, counts: Counts
) -> None:
    visitor = visit("admin", viewport={"width": 320, "height": 640})
    name = f"{HOSTILE}\u202e{'x' * 300}"
    refused = call_of(
        demo, tool=name, decision="refused", reason=HOSTILE, times=7, outcome=None
    )
    calls = {"calls": [refused], "end_cursor": None}
    answer(visitor.page, "/api/mcp/calls", calls)
    answer(visitor.page, f"/api/mcp/calls/{demo.call_id}", refused)
    for address in ("calls", f"calls/{demo.call_id}", "overview"):
        visitor.open(address)
        main = visitor.page.locator("main")
        expect(main).to_contain_text("onerror")
        assert main.locator("img, script").count() == 0
        assert visitor.overflow() <= 0
        counts.check(visitor)
    expect(visitor.page.locator("main mark").first).to_have_text("U+202E")


def test_the_name_that_an_agent_asked_for_is_shown(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit("admin")
    refused = call_of(
        demo,
        tool=None,
        asked_for="probe_admin",
        decision="refused",
        reason="unknown_tool",
        outcome=None,
    )
    calls = {"calls": [refused], "end_cursor": None}
    answer(visitor.page, "/api/mcp/calls", calls)
    answer(visitor.page, f"/api/mcp/calls/{demo.call_id}", refused)
    for address in ("calls", f"calls/{demo.call_id}", "overview"):
        visitor.open(address)
        visitor.shows("main", "asked for probe_admin")


def test_calls_of_a_session_are_on_its_page(visit: Visit, demo: DemoData) -> None:
    visitor = visit("admin")
    call = call_of(demo, session_id=demo.session_id)
    answer(visitor.page, "/api/mcp/calls", {"calls": [call], "end_cursor": None})
    visitor.open(f"sessions/{demo.session_id}")

    table = visitor.page.get_by_role("table", name="Tool calls")
    expect(table.locator("tbody tr")).to_have_count(1)


def test_a_preview_counts_recorded_calls(visit: Visit, demo: DemoData) -> None:
    visitor = visit("ben").open(f"agents/{demo.agent_id}")
    visitor.click("Edit rules")
    visitor.edit_rule("list_*").get_by_label("Stance").select_option("deny")
    visitor.page.get_by_label("Compare recorded calls").select_option("30")
    with visitor.page.expect_request("**/tools/preview?days=30"):
        visitor.click("Preview")

    preview = visitor.page.get_by_role("region", name="Preview")
    expect(preview).to_contain_text("would have been decided otherwise")
    table = preview.get_by_role("table", name="Recorded calls")
    expect(table.locator("tbody tr")).to_contain_text("list_issues")
    expect(table.locator("tbody tr")).to_contain_text("deny")
    assert visitor.violations() == []


def test_tokens_of_an_agent(visit: Visit, demo: DemoData) -> None:
    visitor = visit("ben").open(f"agents/{demo.agent_id}")
    visitor.click("Issue a token")
    dialog = visitor.page.get_by_role("dialog")
    dialog.get_by_label("Label").fill("laptop")
    dialog.get_by_label("The agent calls for me").check()
    assert visitor.violations() == []
    dialog.get_by_role("button", name="Issue", exact=True).click()
    visitor.shows("main", "agt_")
    visitor.click("I have kept it")
    expect(visitor.page.locator("main")).not_to_contain_text("agt_")
    row = visitor.page.locator("main tbody tr").filter(has_text="laptop")
    expect(row).to_have_count(1)
    path = f"/api/mcp/agents/{demo.agent_id}/tokens"
    (issued,) = [
        each for each in demo.call("GET", path)["tokens"] if each["label"] == "laptop"
    ]
    assert issued["user_id"] is not None

    row.get_by_role("button", name="Revoke").click()
    visitor.page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(row).to_have_count(0)

    reader = visit("olga").open(f"agents/{demo.agent_id}")
    expect(
        reader.page.locator(".not-offered").filter(has_text="Tokens of this agent")
    ).to_have_count(1)
