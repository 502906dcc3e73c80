"""Signing in and out, as a person does it."""

import pytest
from playwright.sync_api import Route, expect

from tests.integration.console.browser.answers import refuse, without_a_cookie
from tests.integration.console.browser.conftest import BY_LINK, Visit
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough


def test_a_token_becomes_a_cookie_that_no_script_reads(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit(None)
    visitor.sign_in(demo.tokens["ada"])

    (cookie,) = visitor.page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert visitor.page.evaluate("document.cookie") == ""
    assert visitor.page.evaluate("localStorage.length + sessionStorage.length") == 0
    visitor.shows("header", "ada")

    visitor.click("Sign out")
    expect(visitor.page.get_by_label("Token")).to_be_visible()
    assert visitor.page.context.cookies() == []


@pytest.mark.parametrize("failure", ["refused", "without an answer"])
def test_a_failed_sign_out_is_shown_and_tried_again(
    visit: Visit, demo: DemoData, failure: str
) -> None:
    def fail(route: Route) -> None:
        if route.request.method != "DELETE":
            route.fallback()
        elif failure == "refused":
            route.fulfill(status=502, body="<h1>Bad gateway</h1>")
        else:
            route.abort()

    visitor = visit(None, refusals_expected=True)
    visitor.sign_in(demo.tokens["ada"])
    visitor.page.route("**/console/session", fail)
    visitor.click("Sign out")

    alert = visitor.page.get_by_role("alert")
    expect(alert).to_contain_text("You are still signed in")
    visitor.shows("header", "ada")
    assert visitor.violations() == []
    visitor.page.unroute("**/console/session")
    alert.get_by_role("button", name="Try again").click()

    expect(visitor.page.get_by_label("Token")).to_be_visible()
    assert visitor.page.context.cookies() == []
    if failure == "without an answer":
        visitor.errors.clear()


def test_signing_out_of_a_session_that_has_ended_is_signing_out(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit(None, refusals_expected=True)
    visitor.sign_in(demo.tokens["ada"])
    refuse(visitor.page, "/console/session", 401, "unauthenticated", "no session")
    visitor.click("Sign out")

    expect(visitor.page.get_by_label("Token")).to_be_visible()
    expect(visitor.page.get_by_role("alert")).to_have_count(0)


def test_a_wrong_token_is_refused_with_the_reason(visit: Visit) -> None:
    visitor = visit(None, refusals_expected=True)
    visitor.page.goto(f"{visitor.url}/console")
    visitor.page.get_by_label("Token").fill("art_wrong")
    visitor.press("Enter")

    expect(visitor.page.get_by_role("alert")).to_contain_text("valid bearer token")
    assert visitor.violations() == []


def test_the_link_of_the_first_start_works_once(visit: Visit, demo: DemoData) -> None:
    first, second = visit(BY_LINK), visit(None)
    second.refusals_expected = True

    first.open("overview")
    first.shows("header", "admin")

    second.page.goto(demo.sign_in_url)
    expect(second.page.get_by_role("alert")).to_contain_text("has been used")


def test_a_cookie_that_is_not_kept_is_said(visit: Visit, demo: DemoData) -> None:
    visitor = visit(None)
    visitor.page.route("**/console/session", without_a_cookie)
    visitor.page.goto(f"{visitor.url}/console")
    field = visitor.page.get_by_label("Token")
    field.fill(demo.tokens["ada"])
    visitor.press("Enter")

    alert = visitor.page.get_by_role("alert")
    expect(alert).to_contain_text("The browser hasn't kept the cookie")
    expect(field).to_have_value(demo.tokens["ada"])


def test_a_wrong_token_is_not_answered_with_the_advice_to_sign_in(visit: Visit) -> None:
    visitor = visit(None, refusals_expected=True)
    answer = {"data": {"code": "unauthenticated"}, "message": "it is not valid"}
    visitor.page.route(
        "**/console/session",
        lambda route: (
            route.fulfill(status=401, json=answer)
            if route.request.method == "POST"
            else route.fallback()
        ),
    )
    visitor.page.goto(f"{visitor.url}/console")
    visitor.page.get_by_label("Token").fill("art_wrong")
    visitor.press("Enter")

    alert = visitor.page.get_by_role("alert")
    expect(alert).to_contain_text("it is not valid.")
    expect(alert).not_to_contain_text("then try again")
