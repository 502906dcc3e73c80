"""What agents ask persons for: the inbox, and deciding on one call."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.integration.console.browser.answers import answer, refuse
from tests.integration.console.browser.conftest import Counts, Visit
from tests.integration.console.browser.visitor import Visitor
from tests.support.console.browser.service import DemoData
from tests.support.waiting import until_blocking

pytestmark = pytest.mark.thorough

FOR_DECIDERS = "for managers of the agent, the connector's owner and superusers"


def open_approval(visitor: Visitor, approval: dict[str, Any]) -> None:
    visitor.open(f"approvals/{approval['agent_id']}/{approval['id']}")


def path_of(demo: DemoData, approval: dict[str, Any]) -> str:
    return f"/api/mcp/agents/{demo.agent_id}/approvals/{approval['id']}"


def state_of(visitor: Visitor, state: str) -> None:
    expect(visitor.page.locator(".facts .badge").first).to_contain_text(state)


def approval_now(demo: DemoData, approval: dict[str, Any]) -> Any:
    inbox = demo.call("GET", "/api/mcp/approvals?limit=100")["approvals"]
    return next(each for each in inbox if each["id"] == approval["id"])


def test_a_call_is_approved_by_keyboard_and_made_once(
    visit: Visit, demo: DemoData, counts: Counts
) -> None:
    approval = demo.ask("Approved in the console")
    visitor = visit("ben").open("approvals")
    row = visitor.page.locator("main tbody tr").first
    expect(row).to_contain_text("create_issue")
    expect(row).to_contain_text("may decide")
    open_approval(visitor, approval)
    state_of(visitor, "pending")
    expect(visitor.page.locator("main")).not_to_contain_text("Approved in the console")

    visitor.tab_to("Show the arguments", "button")
    visitor.press("Enter")
    expect(visitor.page.get_by_label("Arguments")).to_contain_text(
        "Approved in the console"
    )
    visitor.tab_to("Approve", "button")
    visitor.press("Enter")
    dialog = visitor.page.get_by_role("dialog")
    expect(dialog).to_contain_text("create_issue of Issue tracker, by Support triage")
    expect(dialog).not_to_contain_text("not looked at its arguments")
    counts.check(visitor, "approval, deciding")
    visitor.tab_to("Reason", "textarea")
    visitor.type("as agreed with support")
    visitor.tab_to("Approve", "button")
    visitor.press("Enter")

    said = visitor.page.get_by_role("status").filter(has_text="call approved")
    expect(said).to_be_focused()
    state_of(visitor, "approved")
    visitor.shows(".facts", "as agreed with support")
    expect(
        visitor.page.get_by_role("button", name="Withdraw the approval")
    ).to_have_count(1)
    counts.check(visitor, "approval, approved")

    made = demo.call_tool("create_issue", {"title": "Approved in the console"})
    assert made["result"]["isError"] is False
    until_blocking(lambda: approval_now(demo, approval)["state"] == "used")
    visitor.page.get_by_role("button", name="Refresh", exact=True).click()
    state_of(visitor, "used")
    visitor.page.get_by_role("link", name="the call that used it").click()
    expect(visitor.page.locator("h1")).to_have_text("Tool call")
    visitor.settled()
    visitor.shows(".facts", "of a person")


def test_a_call_is_refused_and_an_approval_withdrawn(
    visit: Visit, demo: DemoData
) -> None:
    # The connector's owner decides, too.
    visitor = visit("ada")
    for label, title, state in (
        ("Refuse", "To be refused", "refused"),
        ("Withdraw the question", "To be withdrawn", "withdrawn"),
    ):
        approval = demo.ask(title)
        open_approval(visitor, approval)
        visitor.page.get_by_role("button", name=label, exact=True).click()
        dialog = visitor.page.get_by_role("dialog")
        dialog.get_by_label("Reason").fill("not before the release")
        dialog.get_by_role("button", name=label, exact=True).click()

        state_of(visitor, state)
        decided = approval_now(demo, approval)
        assert decided["state"] == state
        assert decided["reason"] == "not before the release"
        assert decided["decided_by"] == demo.user_id
        told = demo.call_tool("create_issue", {"title": title})
        assert "not before the release" in told["result"]["content"][0]["text"]
        for name in ("Approve", "Refuse", "Show the arguments"):
            expect(
                visitor.page.get_by_role("button", name=name, exact=True)
            ).to_have_count(0)
        visitor.shows("main", "They are destroyed")


def test_a_decision_by_somebody_else_is_shown(
    visit: Visit, demo: DemoData, counts: Counts
) -> None:
    approval = demo.ask("Decided by two")
    visitor = visit("ben", refusals_expected=True)
    open_approval(visitor, approval)
    visitor.page.get_by_role("button", name="Approve", exact=True).click()
    dialog = visitor.page.get_by_role("dialog")
    expect(dialog).to_contain_text("You have not looked at its arguments")
    path = f"/api/mcp/agents/{demo.agent_id}/approvals/{approval['id']}"
    demo.call("POST", f"{path}/refuse", {})
    dialog.get_by_role("button", name="Approve", exact=True).click()

    said = visitor.page.locator("main .warning")
    expect(said).to_have_text(
        re.compile(r"Nothing was changed: .+ refused it before you, \d+ s ago\.")
    )
    expect(said).to_be_focused()
    expect(dialog).to_have_count(0)
    state_of(visitor, "refused")
    decided = approval_now(demo, approval)
    assert decided["state"] == "refused"
    time = visitor.page.locator(f".facts time[datetime='{decided['decided_at']}']")
    expect(time).to_be_visible()
    for name in ("Approve", "Refuse", "Withdraw"):
        expect(visitor.page.get_by_role("button", name=name)).to_have_count(0)
    counts.check(visitor, "approval, decided by somebody else")


def test_a_read_only_user_sees_why_controls_are_missing(
    visit: Visit, demo: DemoData
) -> None:
    approval = demo.ask("Seen by an auditor")
    visitor = visit("olga").open("approvals")
    expect(visitor.page.locator("main tbody tr").first).to_contain_text("may look")
    visitor.shows(".not-offered", FOR_DECIDERS)
    open_approval(visitor, approval)

    visitor.shows("main .not-offered", FOR_DECIDERS)
    for name in ("Approve", "Refuse", "Withdraw", "Show the arguments"):
        expect(visitor.page.get_by_role("button", name=name)).to_have_count(0)
    assert not [each for each in visitor.requests if each.endswith(approval["id"])]


def test_arguments_are_shown_as_they_were_written(visit: Visit, demo: DemoData) -> None:
    """Numbers that JavaScript rounds, and characters that turn text around."""
    approval = demo.ask("pay\u202e001 to \u200bbob")
    visitor = visit("ben")
    path = f"/api/mcp/agents/{demo.agent_id}/approvals/{approval['id']}"
    arguments = (
        '{"title":"pay\u202e1 to \u200bbob","sum":0.10,"n":12345678901234567890}'
    )
    body = '{"data":{"arguments":' + arguments + '},"message":"","status_code":200}'
    visitor.page.route(f"**{path}", lambda route: route.fulfill(body=body))
    open_approval(visitor, approval)
    visitor.click("Show the arguments")

    shown = visitor.page.get_by_label("Arguments")
    expect(shown).to_contain_text("12345678901234567890")
    expect(shown).to_contain_text('"sum": 0.10')
    expect(shown.locator("mark")).to_have_text(["U+202E", "U+200B"])


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("expired", "Nobody approved it, or the agent didn't make the call, in time."),
        ("used", "The agent has made the call."),
    ],
)
def test_what_came_before_a_decision_is_said(
    visit: Visit, demo: DemoData, state: str, said: str
) -> None:
    approval = demo.ask(f"{state} before it is decided")
    visitor = visit("ben", refusals_expected=True)
    open_approval(visitor, approval)
    visitor.page.get_by_role("button", name="Approve", exact=True).click()

    become = {"state": state, "decided_by": demo.user_id}
    now = approval_now(demo, approval) | become
    now["version"] += 1
    answer(visitor.page, "/api/mcp/approvals", {"approvals": [now]})
    refuse(visitor.page, f"{path_of(demo, approval)}/approve", 409, "closed", "late")
    dialog = visitor.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Approve", exact=True).click()

    visitor.shows("main .warning", f"Nothing was changed. {said}")
    demo.call("POST", f"{path_of(demo, approval)}/withdraw", {})


@pytest.mark.parametrize("state", ["expired", "withdrawn", "used", "refused"])
def test_closed_approvals_offer_nothing(
    visit: Visit, demo: DemoData, counts: Counts, state: str
) -> None:
    found = demo.call("GET", "/api/mcp/approvals?limit=1")["approvals"][0]
    visitor = visit("admin")
    listed = {"approvals": [{**found, "state": state}], "end_cursor": None}
    answer(visitor.page, "/api/mcp/approvals", listed)
    open_approval(visitor, found)

    state_of(visitor, state)
    expect(visitor.page.get_by_role("button", name="Approve")).to_have_count(0)
    counts.check(visitor, f"approval, {state}")


def test_the_inbox_shows_new_questions_by_itself_until_stopped(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit("ben").open("approvals")
    approval = demo.ask("While the inbox is open")
    link = visitor.page.locator(f"main tbody a[href*='{approval['id']}']")
    expect(link.first).to_be_visible()

    visitor.click("Stop refreshing")
    expect(visitor.page.get_by_role("button", name="Refresh every")).to_be_visible()


def test_the_overview_counts_what_waits(visit: Visit, demo: DemoData) -> None:
    approval = demo.ask("Seen on the overview")
    for user, said in (("ben", "2 for you to decide"), ("olga", "none for you")):
        visitor = visit(user)
        waiting = {"approvals": [approval, approval], "end_cursor": None}
        answer(visitor.page, "/api/mcp/approvals", waiting)
        visitor.open("overview")

        card = visitor.page.locator(".card").filter(has_text="Approvals waiting")
        expect(card).to_contain_text(said)
        expect(card.get_by_role("link", name="create_issue")).to_have_count(2)
