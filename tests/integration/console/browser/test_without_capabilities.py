"""A service without optional capabilities: the console shows what is there."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from docs.generator.console_pages import listed_pages
from service.app import operations
from tests.integration.console.browser.answers import answer
from tests.integration.console.browser.conftest import Visit
from tests.integration.console.browser.visitor import Visitor, visitor_in
from tests.support.configured import configured
from tests.support.console.browser.pages import PAGES, REFUSING
from tests.support.console.browser.service import DemoData, serve_demo
from tests.support.harness.service import running, serving
from tests.support.project import ROOT

pytestmark = pytest.mark.thorough

# All but the console, and the database, which no page shows.
LEFT_OUT: Final = "demo,gateway,otlp,phoenix,price_imports,proofs,relay,tracing"
PAGES_OF: Final[Mapping[str, Sequence[str]]] = {
    "gateway": ("approvals", "approval", "calls", "call", "definitions"),
    "proofs": ("verify",),
}
WITHOUT_PAGE: Final = {name for names in PAGES_OF.values() for name in names}
NAVIGATION: Final = tuple(
    page["label"]
    for page in listed_pages(ROOT)
    if "label" in page and page.get("needs") not in LEFT_OUT.split(",")
)
SECTIONS: Final[Mapping[str, Sequence[str]]] = {
    "overview": (
        *("Latest sessions", "Service", "Refused changes, last hour"),
        *("Sessions with errors, last day", "Connectors offered to you"),
        "Cost today (UTC)",
    ),
    "agent": ("Managers", "Readers", "Effective decisions", "Rules"),
    "connector": ("Grants", "Rules of all agents"),
    "session": ("Turns",),
    "operation": ("Service",),
}

WORDS: Final = re.compile(r"kafka|relay|checkpoint|verify|\bgateway", re.IGNORECASE)


def pages_with(capability: str) -> "re.Pattern[str]":
    """Return the pattern of the addresses of its pages."""
    return re.compile(f"^#/({'|'.join(PAGES_OF[capability])})\\b")


def asked_in_vain(visitor: Visitor, left_out: str) -> list[str]:
    """Return what the visitor has asked for that such a service doesn't have."""
    served = {each.path for each in operations(configured(without=left_out))}
    missing = {each.path for each in operations()} - served
    patterns = [re.sub(r"\{\w+\}", "[^/?]+", each) + r"(\?|$)" for each in missing]
    return [
        each
        for each in visitor.requests
        if any(re.match(pattern, each) for pattern in patterns)
    ]


def links_in(page: Page, capability: str) -> list[str]:
    """Return the addresses of a capability's pages that the page leads to."""
    addresses: list[str] = page.locator("#console a[href^='#/']").evaluate_all(
        "links => links.map(link => link.getAttribute('href'))"
    )
    return [each for each in addresses if pages_with(capability).match(each)]


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoData]:
    """What a whole service has recorded, served by the core and the console alone."""
    folder = tmp_path_factory.mktemp("core")
    with serve_demo(folder) as demo:
        pass
    server = serving("--without", LEFT_OUT, log=folder / "log-of-core", folder=folder)
    with running(server):
        yield replace(demo, url=server.url)


@pytest.fixture
def user() -> str:
    return "admin"


@pytest.fixture
def visitor(browser: Browser, core: DemoData, user: str) -> Iterator[Visitor]:
    """Somebody at the core's console; an answer of 400 or more is an error."""
    with browser.new_context() as context:
        visitor = visitor_in(context, core.url)
        visitor.sign_in(core.tokens[user])
        yield visitor
    assert visitor.errors == []
    assert visitor.policy_reports == []


def test_the_navigation_leads_to_what_is_there(visitor: Visitor) -> None:
    links = visitor.page.get_by_role("navigation", name="Console").get_by_role("link")
    expect(links).to_have_text(NAVIGATION)

    for name in NAVIGATION:
        links.get_by_text(name, exact=True).click()
        expect(visitor.page.locator("main h1")).to_have_text(name)
        visitor.settled()
        expect(visitor.page.locator(".failure")).to_have_count(0)
    assert asked_in_vain(visitor, LEFT_OUT) == []


@pytest.mark.parametrize("user", ["admin", "ada"])
def test_pages_neither_ask_for_nor_lead_to_what_is_left_out(
    visitor: Visitor, core: DemoData, user: str
) -> None:
    """What others may see is refused to ada, as it always is."""
    for name in PAGES.keys() - WITHOUT_PAGE:
        visitor.refusals_expected = user != "admin" or name in REFUSING
        visitor.open(PAGES[name](core))
        if not visitor.refusals_expected:
            expect(visitor.page.locator(".failure"), name).to_have_count(0)
        for capability in PAGES_OF:
            assert links_in(visitor.page, capability) == [], name
    assert asked_in_vain(visitor, LEFT_OUT) == []


@pytest.mark.parametrize("name", SECTIONS)
def test_a_page_has_the_sections_that_can_work(
    visitor: Visitor, core: DemoData, name: str
) -> None:
    visitor.open(PAGES[name](core))

    expect(visitor.page.locator("main h2")).to_have_text(SECTIONS[name])
    expect(visitor.page.locator("main")).not_to_contain_text(WORDS)
    assert visitor.violations() == []


def test_the_address_of_a_page_that_is_left_out_says_so(
    visitor: Visitor, core: DemoData
) -> None:
    main = visitor.page.locator("main")
    visitor.requests.clear()
    for capability, names in PAGES_OF.items():
        for name in names:
            visitor.open(PAGES[name](core))
            expect(main.locator("h1")).to_have_text("Page left out")
            said = f"needs {capability}, an optional capability that this service runs"
            expect(main).to_contain_text(said)
            expect(main).to_contain_text("AGENT_RUNTIME_WITHOUT")
    assert visitor.requests == []
    assert visitor.violations() == []


def test_values_that_could_not_be_read_are_told(visitor: Visitor) -> None:
    metrics = "agent_runtime_unreadable_values_total 2.0\n"
    visitor.page.route("**/console/metrics", lambda route: route.fulfill(body=metrics))
    visitor.open("operation")

    said = "2 sealed values couldn't be read by this server since its start."
    expect(visitor.page.locator("main")).to_contain_text(said)


def test_what_can_not_be_done_is_not_offered(visitor: Visitor, core: DemoData) -> None:
    """Nor is it said how it is done."""
    main = visitor.page.locator("main")
    visitor.open("sessions?prefix=none")
    expect(main).to_contain_text("the program that runs the agents.")

    visitor.open("explain")
    expect(main).not_to_contain_text(WORDS)

    visitor.open("prices")
    expect(main.get_by_role("button", name="Set a price")).to_be_visible()
    expect(main).not_to_contain_text("Import")

    visitor.open(f"connectors/{core.connector_id}")
    buttons = main.locator(".buttons").first.get_by_role("button")
    offered = ["Edit", "Make public", "Grant to an agent", "Retire"]
    expect(buttons).to_have_text(offered)

    visitor.open("connectors")
    labels = main.get_by_role("search").locator("label")
    expect(labels).to_have_text(["Which", "Agent"])
    expect(main.get_by_role("columnheader", name="Tools")).to_have_count(0)


def test_rules_are_decided_on_and_previewed_without_calls(
    visitor: Visitor, core: DemoData
) -> None:
    visitor.open(f"agents/{core.agent_id}")
    main = visitor.page.locator("main")
    expect(main).to_contain_text("tools of connectors aren't observed here; name some")
    main.get_by_label("Tools to decide").fill("create_issue")
    visitor.press("Enter")
    visitor.settled()
    decided = main.get_by_role("region", name="Decisions now").locator("tbody tr")
    expect(decided).to_contain_text("create_issue")
    expect(decided.get_by_role("link").first).to_contain_text("? ask")

    visitor.click("Edit rules")
    visitor.click("Preview")
    preview = visitor.page.get_by_role("region", name="Preview")
    expect(preview).to_contain_text("No decision changes")
    expect(preview).not_to_contain_text("recorded")
    expect(main).not_to_contain_text("recorded calls")


@pytest.mark.parametrize("capability", PAGES_OF)
def test_what_is_not_left_out_stays(
    visit: Visit, demo: DemoData, capability: str
) -> None:
    """One capability alone, of a service that has both of them."""
    visitor = visit("admin", refusals_expected=True)
    state = {"signed_in": True, "left_out": [capability]}
    answer(visitor.page, "/console/session", state)
    (other,) = PAGES_OF.keys() - {capability}

    for name in PAGES.keys() - {*PAGES_OF[capability]}:
        visitor.open(PAGES[name](demo))
        expect(visitor.page.locator("main h1")).not_to_have_text("Page left out")
        assert links_in(visitor.page, capability) == [], name
        assert links_in(visitor.page, other) != [], name
    assert asked_in_vain(visitor, capability) == []
    assert asked_in_vain(visitor, other) != []
