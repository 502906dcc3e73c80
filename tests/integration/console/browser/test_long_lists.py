"""More agents than a list of choices holds: the others are found by their ids."""

import re
from typing import Final
from uuid import uuid4

import pytest
from playwright.sync_api import Page, Route, expect

from tests.integration.console.browser.answers import answer
from tests.integration.console.browser.conftest import Visit
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough

AGENTS: Final = re.compile(r"/api/catalog/agents(\?|$)")


def endless_agents(page: Page) -> None:
    """Let the list of agents go on and on, without those of the demo."""

    def another_page(route: Route) -> None:
        ids = [str(uuid4()) for _ in range(100)]
        agents = [{"id": id_, "name": f"Agent {id_}", "manager_ids": []} for id_ in ids]
        data = {"agents": agents, "end_cursor": ids[-1]}
        route.fulfill(json={"data": data, "message": "", "status_code": 200})

    page.route(AGENTS, another_page)


def test_an_agent_behind_the_end_of_the_list_is_chosen_by_its_id(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit("admin")
    endless_agents(visitor.page)
    visitor.open("sessions")
    field = visitor.page.get_by_label("Agent", exact=True)
    expect(visitor.page.locator("datalist option")).to_have_count(500)
    assert visitor.violations() == []
    field.press_sequentially(demo.agent_id)
    with visitor.page.expect_response(re.compile(f"agent_id={demo.agent_id}")):
        visitor.click("Apply")
    visitor.settled()

    expect(field).to_have_value(demo.agent_id)


def test_tables_and_charts_name_what_is_behind_the_end_of_the_list(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit("admin")
    endless_agents(visitor.page)
    for address in (f"sessions?agent_id={demo.agent_id}", "calls", "usage?by=agent"):
        visitor.open(address)
        link = visitor.page.locator(f"main tbody a[href$='{demo.agent_id}']")
        expect(link.first).to_have_text("Support triage")
    visitor.shows(".legend", "Support triage")
    # Each is read once, whichever page shows it how often.
    one = f"/api/catalog/agents/{demo.agent_id}"
    assert visitor.requests.count(one) == 1


@pytest.mark.parametrize("manager", ["olga", "ada"])
def test_the_manager_of_an_agent_behind_the_end_of_the_list_decides(
    visit: Visit, demo: DemoData, manager: str
) -> None:
    approval = demo.ask(f"Of an agent of {manager}, behind the end of the list")
    manager_id = demo.call("GET", "/api/users/me", user=manager)["id"]
    visitor = visit("olga")
    endless_agents(visitor.page)
    agent = {"id": demo.agent_id, "name": "Late", "manager_ids": [manager_id]}
    answer(visitor.page, f"/api/catalog/agents/{demo.agent_id}", agent)
    visitor.open(f"approvals/{demo.agent_id}/{approval['id']}")

    offered = visitor.page.get_by_role("heading", name="Decide")
    refused = visitor.page.locator(".not-offered").filter(has_text="deciding")
    seen, unseen = (offered, refused) if manager == "olga" else (refused, offered)
    expect(seen).to_be_visible()
    expect(unseen).to_have_count(0)
