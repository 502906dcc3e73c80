"""What has been typed and isn't saved is lost only by one's own decision."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Dialog, expect

from tests.integration.console.browser.conftest import Visit
from tests.integration.console.browser.visitor import Visitor
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough

TEXT = "Not saved anywhere"


def leave_by_link(visitor: Visitor) -> None:
    visitor.page.get_by_role("link", name="Sessions", exact=True).click()


def go_back(visitor: Visitor) -> None:
    visitor.page.evaluate("history.back()")


def sign_out(visitor: Visitor) -> None:
    visitor.click("Sign out")


def close_the_editor(visitor: Visitor) -> None:
    visitor.click("Close the editor")


def reload(visitor: Visitor) -> None:
    visitor.page.evaluate("setTimeout(() => location.reload())")


def answering(visitor: Visitor, *, leaves: bool) -> list[str]:
    """Answer the browser's questions; return their kinds as they are asked."""
    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.type)
        if leaves:
            dialog.accept()
        else:
            dialog.dismiss()

    visitor.page.on("dialog", answer)
    return asked


def draft(visitor: Visitor, demo: DemoData) -> Any:
    visitor.open("agents").open(f"agents/{demo.agent_id}").click("Edit rules")
    rule = visitor.edit_rule("delete_*")
    rule.get_by_label("Tool pattern").fill("draft_*")
    return visitor.page.get_by_label("Tool pattern")


@pytest.mark.parametrize(
    "leave", [leave_by_link, go_back, sign_out, close_the_editor, reload]
)
def test_leaving_a_draft_of_rules_asks_first(
    visit: Visit, demo: DemoData, leave: Callable[[Visitor], None]
) -> None:
    visitor = visit("ben")
    field = draft(visitor, demo)
    asked = answering(visitor, leaves=False)
    question = "beforeunload" if leave is reload else "confirm"
    with visitor.page.expect_event("dialog"):
        leave(visitor)

    expect(field).to_have_value("draft_*")
    expect(visitor.page).to_have_url(f"{visitor.url}/console#/agents/{demo.agent_id}")
    assert asked == [question]


def test_a_draft_that_is_given_up_is_left_and_asked_about_once(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit("ben")
    draft(visitor, demo)
    asked = answering(visitor, leaves=True)
    leave_by_link(visitor)
    expect(visitor.page.locator("h1")).to_have_text("Sessions")
    visitor.open("agents")

    assert asked == ["confirm"]


def test_the_zone_and_a_refresh_leave_a_draft_alone(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit("ben")
    field = draft(visitor, demo)
    asked = answering(visitor, leaves=False)
    visitor.page.get_by_label("Time zone").select_option("Asia/Tokyo")
    visitor.click("Refresh")
    visitor.settled()

    expect(field).to_have_value("draft_*")
    assert asked == []


def test_going_back_from_a_dialog_asks_only_if_something_was_typed(
    visit: Visit,
) -> None:
    visitor = visit("ada").open("sessions").open("agents")
    asked = answering(visitor, leaves=False)
    visitor.click("Register an agent")
    dialog = visitor.page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill(TEXT)
    with visitor.page.expect_event("dialog"):
        go_back(visitor)

    expect(dialog.get_by_label("Name", exact=True)).to_have_value(TEXT)
    dialog.get_by_role("button", name="Cancel").click()
    leave_by_link(visitor)
    expect(visitor.page.locator("h1")).to_have_text("Sessions")
    assert asked == ["confirm"]
