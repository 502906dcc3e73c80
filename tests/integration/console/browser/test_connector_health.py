"""Why a connector has no tools, and which of them agents don't see."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.integration.console.browser.answers import answer
from tests.integration.console.browser.conftest import Visit
from tests.support.console.browser.service import HOSTILE, DemoData

pytestmark = pytest.mark.thorough

NAME = "At loopback"


@pytest.fixture
def connector(demo: DemoData) -> Iterator[str]:
    """A connector of ada's, at an address that is never called."""
    body = {"name": NAME, "url": "https://127.0.0.1:1/mcp", "description": ""}
    made = demo.call("POST", "/api/mcp/connectors", body, user="ada")
    yield made["id"]
    demo.remove_later(f"/api/mcp/connectors/{made['id']}", user="ada")


def test_an_owner_observes_it_now_and_reads_why_it_has_no_tools(
    visit: Visit, connector: str
) -> None:
    visitor = visit("ada").open(f"connectors/{connector}")
    visitor.click("Observe now")

    expect(visitor.page.locator("p.done")).to_have_text("✓ connector observed")
    visitor.shows(
        "main .failure", "can't be listed 127.0.0.1:1 isn't at a public address"
    )
    visitor.shows("main .failure", "no agent holds it yet")
    visitor.shows(".facts >> nth=1", "Last attempt")
    visitor.shows(".facts >> nth=1", "none at this URL")
    assert visitor.violations() == []
    visitor.open("connectors?scope=owned")
    row = visitor.page.get_by_role("row").filter(has_text=NAME)
    expect(row).to_contain_text("✕ can't be listed")
    expect(row).to_contain_text("127.0.0.1:1 isn't at a public address")
    expect(row.locator("td.wide time")).to_be_visible()
    assert visitor.violations() == []

    visitor.open("overview")
    failing = visitor.page.locator(".card.bad").filter(has_text="Failing connectors")
    expect(failing).to_contain_text(f"{NAME}: its tools can't be listed: 127.0.0.1:1")
    failing.get_by_role("link", name="Failing connectors").click()
    visitor.settled()
    expect(visitor.page.get_by_label("Tools")).to_have_value("failing")
    rows = visitor.page.locator("main tbody tr")
    expect(rows.filter(has_text=NAME)).to_have_count(1)
    expect(rows.filter(has_text="✓ listed")).to_have_count(0)


def test_a_new_connector_says_by_itself_that_it_may_not_be_called(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit("ada").open("connectors")
    visitor.click("Register a connector")
    visitor.send({"Name": "Private network", "URL": "http://10.0.0.1/mcp"})

    expect(visitor.page.locator("h1")).to_have_text("Connector Private network")
    # The observer asks within seconds; nobody presses anything.
    said = "10.0.0.1 isn't at a public address; an operator has to name its network"
    visitor.shows("main .failure", said)
    id_ = visitor.page.url.rsplit("/", 1)[-1]
    demo.remove_later(f"/api/mcp/connectors/{id_}", user="ada")


def test_others_are_not_offered_to_observe_it(visit: Visit, demo: DemoData) -> None:
    visitor = visit("ben").open(f"connectors/{demo.connector_id}")

    visitor.shows(".not-offered >> nth=1", "Observing its tools now: for its owner")
    expect(visitor.page.get_by_role("button", name="Observe now")).to_have_count(0)


def test_tools_that_agents_do_not_see_are_named_with_the_reason(
    visit: Visit, demo: DemoData
) -> None:
    path = f"/api/mcp/connectors/{demo.connector_id}"
    health = demo.call("GET", f"{path}/health")
    names = ["archive", "export"]
    changed = {"left_out": {"count": 3, "names": names}, "next_at": None}
    definitions = demo.call("GET", f"{path}/definitions")
    first, second, *others = definitions["tools"]
    tools = [
        first | {"tool": HOSTILE, "reason": "its name has other characters"},
        second | {"left_out": ["`outputSchema`: not every client compiles it"]},
        *others,
    ]
    visitor = visit()
    answer(visitor.page, f"{path}/health", health | changed)
    answer(visitor.page, f"{path}/definitions", definitions | {"tools": tools})
    visitor.open(f"connectors/{demo.connector_id}")

    visitor.shows("main", "✓ listed")
    visitor.shows(".facts >> nth=1", "archive, export and 1 other")
    listed = visitor.page.get_by_role("listitem")
    unacceptable = listed.filter(has_text="its name has other characters")
    expect(unacceptable).to_contain_text("✕ unacceptable")
    expect(listed.filter(has_text=second["tool"])).to_contain_text(
        "without `outputSchema`: not every client compiles it"
    )
    assert visitor.violations() == []
