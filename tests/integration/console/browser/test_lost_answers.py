"""A change whose answer was lost is made once, and trying again shows what it was."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Route, expect

from tests.integration.console.browser.conftest import Visit
from tests.integration.console.browser.losing import LosingProxy, losing_proxy
from tests.integration.console.browser.visitor import Visitor
from tests.support.console.browser.service import DemoData, called


@pytest.fixture
def proxy(demo: DemoData) -> Iterator[LosingProxy]:
    with losing_proxy(demo.url) as opened:
        yield opened


@pytest.fixture
def ada(visit: Visit, demo: DemoData, proxy: LosingProxy) -> Visitor:
    """Signed in through the proxy."""
    visitor = visit(None, refusals_expected=True)
    visitor.url = proxy.url
    visitor.sign_in(demo.tokens["ada"])
    return visitor


def test_a_token_whose_answer_was_lost_is_issued_once_and_shown(
    ada: Visitor, proxy: LosingProxy, demo: DemoData
) -> None:
    path = f"/api/users/{demo.user_id}/tokens"
    ada.open(f"users/{demo.user_id}")
    ada.click("Issue a token")
    dialog = ada.page.get_by_role("dialog")
    dialog.get_by_label("Label", exact=True).fill("answer lost")
    proxy.losing = f"POST {path}"
    ada.press("Enter")
    expect(ada.page.get_by_role("alert")).to_contain_text("can't be reached")
    assert proxy.lost
    proxy.losing = None
    dialog.get_by_role("button", name="Issue", exact=True).click()

    expect(dialog).to_have_count(0)
    token = re.search(r"art_\w{36}", ada.page.locator("main").inner_text())
    assert token
    (issued,) = [
        each
        for each in demo.call("GET", path, user="ada")["tokens"]
        if each["label"] == "answer lost"
    ]
    ada.errors.clear()
    me = called(demo.url, token.group(), "GET", "/api/users/me")
    assert me["token_id"] == issued["id"]
    demo.remove_later(f"{path}/{issued['id']}", user="ada")


def test_an_agent_whose_answer_was_lost_is_registered_once(
    ada: Visitor, proxy: LosingProxy, demo: DemoData
) -> None:
    ada.open("agents").click("Register an agent")
    proxy.losing = "POST /api/catalog/agents"
    ada.send({"Name": "Answer lost"})
    expect(ada.page.get_by_role("alert")).to_contain_text("can't be reached")
    proxy.losing = None
    ada.press("Enter")

    expect(ada.page.locator("h1")).to_have_text("Agent Answer lost")
    # Another one of that name is another agent.
    ada.open("agents").click("Register an agent")
    ada.send({"Name": "Answer lost"})
    expect(ada.page.locator("h1")).to_have_text("Agent Answer lost")
    agents = demo.call("GET", "/api/catalog/agents?limit=100")["agents"]
    made = [each["id"] for each in agents if each["name"] == "Answer lost"]
    assert len(made) == 2
    ada.errors.clear()
    for each in made:
        demo.remove_later(f"/api/catalog/agents/{each}")


def test_an_own_change_is_no_conflict_when_its_answer_was_lost(
    ada: Visitor, proxy: LosingProxy, demo: DemoData
) -> None:
    agent = demo.call("POST", "/api/catalog/agents", {"name": "Mine"}, user="ada")["id"]
    path = f"/api/catalog/agents/{agent}"
    ada.open(f"agents/{agent}")
    ada.page.get_by_role("button", name="Edit", exact=True).click()
    dialog = ada.page.get_by_role("dialog")
    dialog.get_by_label("Description").fill("What was meant")
    proxy.losing = f"PUT {path}"
    save = dialog.get_by_role("button", name="Save")
    save.click()
    expect(ada.page.get_by_role("alert")).to_contain_text("can't be reached")
    proxy.losing = None
    save.click()

    expect(dialog).to_have_count(0)
    ada.shows("main", "What was meant")
    ada.errors.clear()
    demo.remove_later(path)


# Calls of the API by the page's own script; the key of each, and what came of it.
CALL = """
([method, path, body]) => import("/console/app/api.js")
  .then(({call}) => call(method, path, {body}))
  .then(() => null, (error) => [error.status, error.message])
"""
AGENTS = "/api/catalog/agents"
NEW = ["POST", AGENTS, {"name": "Never registered"}]


def keys_of(visitor: Visitor, status: int) -> list[str]:
    """Answer registrations so, or not at all (0); return their keys as they come."""
    found: list[str] = []

    def taken(route: Route) -> None:
        found.append(route.request.headers["idempotency-key"])
        if status == 0:
            route.abort()
        else:
            data = {"code": "chosen", "errors": [], "request_id": "r"}
            body = {"data": data, "message": "chosen", "status_code": status}
            route.fulfill(status=status, json=body)

    visitor.page.route(f"**{AGENTS}", taken)
    return found


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("status", "is_kept"),
    [(0, True), (502, True), (429, True), (409, False), (201, False)],
)
def test_a_key_is_kept_while_the_outcome_is_unknown_for_five_minutes(
    visit: Visit, status: int, *, is_kept: bool
) -> None:
    visitor = visit("ada", refusals_expected=True).open("find/nothing")
    keys = keys_of(visitor, status)
    visitor.page.evaluate(CALL, NEW)
    # The success of another change says nothing of this one.
    visitor.page.route("**/api/catalog/other", lambda route: route.fulfill(json={}))
    visitor.page.evaluate(CALL, ["PUT", "/api/catalog/other", None])
    visitor.page.evaluate(CALL, NEW)
    visitor.page.evaluate("{ const now = Date.now; Date.now = () => now() + 301_000; }")
    visitor.page.evaluate(CALL, NEW)

    assert (keys[0] == keys[1]) is is_kept
    assert keys[2] not in keys[:2]
    visitor.errors.clear()


@pytest.mark.thorough
def test_keys_end_with_the_session(visit: Visit, demo: DemoData) -> None:
    visitor = visit(None, refusals_expected=True)
    visitor.sign_in(demo.tokens["ada"])
    keys = keys_of(visitor, 502)
    visitor.page.evaluate(CALL, NEW)
    visitor.click("Sign out")
    visitor.page.get_by_label("Token").fill(demo.tokens["ada"])
    visitor.click("Sign in")
    visitor.settled()
    visitor.page.evaluate(CALL, NEW)

    assert len({*keys}) == 2


@pytest.mark.thorough
def test_an_answer_that_breaks_off_is_lost(visit: Visit) -> None:
    visitor = visit("ada", refusals_expected=True).open("find/nothing")
    visitor.page.evaluate(
        "window.fetch = async () => new Response(new ReadableStream("
        "{start: (controller) => controller.error(new TypeError('broken'))}))"
    )

    assert visitor.page.evaluate(CALL, NEW) == [0, "The answer was lost"]
