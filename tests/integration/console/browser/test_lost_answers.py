"""A change whose answer was lost is made once, and trying again shows what it was."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

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
    demo.call("DELETE", f"{path}/{issued['id']}", user="ada")


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
        demo.call("DELETE", f"/api/catalog/agents/{each}")


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
    demo.call("DELETE", path)
