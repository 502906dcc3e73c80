"""A session that ends while somebody works: they sign in over the page, and go on."""

from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, expect

from tests.integration.console.browser.conftest import Counts, Visit
from tests.integration.console.browser.visitor import Visitor
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough

ENDED = "Your session has ended"


@dataclass
class Session:
    """Of ben, in a browser; that it has ended is what requests get for an answer.

    Not by the service itself, which counts refused tokens for all tests together.
    """

    visitor: Visitor
    demo: DemoData

    def end(self, status: int = 401, code: str = "unauthenticated") -> None:
        data = {"code": code, "errors": [], "request_id": "request-of-the-test"}
        body = {"data": data, "message": "it has ended", "status_code": status}
        self.visitor.page.route(
            "**/api/**", lambda route: route.fulfill(status=status, json=body)
        )

    @property
    def over(self) -> Locator:
        return self.visitor.page.get_by_role("dialog", name=ENDED)

    def sign_in_again(self, user: str) -> None:
        expect(self.over).to_be_visible()
        self.visitor.page.unroute("**/api/**")
        self.over.get_by_label("Token").fill(self.demo.tokens[user])
        self.visitor.press("Enter")
        expect(self.over).to_have_count(0)
        self.visitor.settled()


@pytest.fixture
def session(visit: Visit, demo: DemoData) -> Session:
    return Session(visit("ben", refusals_expected=True), demo)


def test_a_form_is_kept_and_submitted_after_signing_in_again(
    session: Session, counts: Counts
) -> None:
    visitor, demo = session.visitor, session.demo
    visitor.open("agents").click("Register an agent")
    session.end()
    visitor.send({"Name": "Registered late"})

    expect(session.over).to_be_visible()
    expect(session.over.get_by_label("Token")).to_be_focused()
    counts.check(visitor, "agents, the session has ended")
    visitor.press("Escape")
    visitor.press("Escape")
    expect(session.over).to_be_visible()
    session.sign_in_again("ben")
    form = visitor.page.get_by_role("dialog")
    expect(form.get_by_label("Name", exact=True)).to_have_value("Registered late")
    form.get_by_role("button", name="Register", exact=True).click()

    expect(visitor.page.locator("h1")).to_have_text("Agent Registered late")
    agent = visitor.page.url.rpartition("/")[2]
    demo.remove_later(f"/api/catalog/agents/{agent}")


def test_what_could_not_be_read_is_read_after_signing_in_again(
    session: Session,
) -> None:
    visitor = session.visitor
    visitor.open("overview")
    session.end()
    visitor.page.get_by_role("link", name="Agents", exact=True).click()
    session.sign_in_again("ben")

    expect(visitor.page.locator("h1")).to_have_text("Agents")
    expect(visitor.page.locator("main tbody tr").first).to_be_visible()
    expect(visitor.page.get_by_role("alert")).to_have_count(0)


def test_a_draft_of_rules_outlasts_the_session(session: Session) -> None:
    visitor = session.visitor
    visitor.open(f"agents/{session.demo.agent_id}")
    visitor.click("Edit rules")
    visitor.edit_rule("delete_*").get_by_label("Tool pattern").fill("draft_*")
    session.end()
    visitor.click("Refresh")
    session.sign_in_again("ben")

    expect(visitor.page.get_by_label("Tool pattern")).to_have_value("draft_*")
    visitor.click("Preview")
    expect(visitor.page.get_by_role("region", name="Preview")).to_be_visible()


def test_a_session_that_ended_with_too_many_refusals_is_over_too(
    session: Session,
) -> None:
    visitor = session.visitor
    visitor.open("agents")
    session.end(429, "too_many_refused_tokens")
    visitor.click("Refresh")
    expect(session.over).to_be_visible()
    session.sign_in_again("ben")

    expect(visitor.page.get_by_role("alert")).to_have_count(0)


def test_another_user_sees_nothing_of_the_one_before(session: Session) -> None:
    visitor = session.visitor
    visitor.open("agents").click("Register an agent")
    visitor.page.get_by_label("Name", exact=True).fill("Typed by ben")
    session.end()
    visitor.press("Enter")
    with visitor.page.expect_response("**/api/catalog/agents?**"):
        session.sign_in_again("olga")

    visitor.shows("header", "olga")
    expect(visitor.page.get_by_role("dialog")).to_have_count(0)
    values = (
        "[...document.querySelectorAll('input, textarea')].map((each) => each.value)"
    )
    assert "Typed by ben" not in visitor.page.evaluate(values)
    visitor.page.on("dialog", lambda dialog: dialog.dismiss())
    visitor.page.get_by_role("link", name="Sessions", exact=True).click()
    expect(visitor.page.locator("h1")).to_have_text("Sessions")


def test_pages_that_stay_current_wait_for_the_sign_in(session: Session) -> None:
    visitor = session.visitor
    visitor.page.clock.install()
    visitor.open("approvals")
    session.end()
    visitor.page.get_by_role("button", name="Refresh", exact=True).click()
    expect(session.over).to_be_visible()
    asked: list[str] = []
    visitor.page.on("request", lambda request: asked.append(request.url))
    visitor.page.clock.run_for(60_000)
    visitor.page.evaluate("new Promise((done) => setTimeout(done))")
    assert asked == []

    session.sign_in_again("ben")
    with visitor.page.expect_response("**/api/mcp/approvals?**"):
        visitor.page.clock.run_for(60_000)


def test_following_the_trail_goes_on_after_signing_in_again(
    visit: Visit, demo: DemoData
) -> None:
    session = Session(visit("olga", refusals_expected=True), demo)
    visitor = session.visitor
    visitor.open("audit?kind=agent.registered")
    session.end()
    visitor.click("Follow live")
    session.sign_in_again("olga")
    made = demo.call("POST", "/api/catalog/agents", {"name": "After signing in"})

    first = visitor.page.locator("main tbody tr").first
    expect(first).to_contain_text("After signing in")
    demo.remove_later(f"/api/catalog/agents/{made['id']}")


def test_choices_are_read_after_signing_in_again(session: Session) -> None:
    visitor = session.visitor
    visitor.open("overview")
    session.end()
    visitor.page.get_by_role("link", name="Approvals", exact=True).click()
    session.sign_in_again("ben")

    options = visitor.page.get_by_label("Agent", exact=True).locator("option")
    expect(options.nth(1)).to_be_attached()
