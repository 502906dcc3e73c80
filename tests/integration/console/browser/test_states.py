"""States of a page: empty, one, many, slow, failed, forbidden; and what it keeps."""

import re
from uuid import uuid4

import orjson
import pytest
from playwright.sync_api import Route, expect

from tests.integration.console.browser.answers import Held
from tests.integration.console.browser.conftest import Counts, Visit
from tests.support.console.browser.service import HOSTILE, DemoData

pytestmark = pytest.mark.thorough

# A page that waits for its answers is never late: its timer of 100 ms doesn't run.
NEVER_LATE = """
const timer = setTimeout;
window.setTimeout = (run, ms, ...rest) => (ms === 100 ? 0 : timer(run, ms, ...rest));
window.workingWasShown = false;
new MutationObserver(() => {
  if (document.querySelector("h1")?.textContent === "Sessions")
    window.workingWasShown ||= document.querySelector(".working") !== null;
}).observe(document, {childList: true, subtree: true});
"""
HIDDEN_WIDTH = "element => element.scrollWidth - element.clientWidth"
LIST = re.compile("/api/observability/session/list")


def test_empty_one_and_many(visit: Visit, demo: DemoData, counts: Counts) -> None:
    visitor = visit("admin")
    rows = visitor.page.locator("main tbody tr")

    visitor.open(f"sessions?prefix={uuid4()}")
    visitor.shows(".empty", "No session was active")
    counts.check(visitor, "sessions, empty")

    visitor.open(f"sessions?prefix={demo.session_id}")
    expect(rows).to_have_count(1)

    visitor.open("sessions?limit=100")
    expect(rows).to_have_count(100)
    counts.check(visitor, "sessions, one", "sessions, many")
    visitor.page.get_by_role("link", name="Next page").click()
    visitor.settled()
    expect(visitor.page.get_by_role("link", name="First page")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 1440])
def test_what_a_session_is_about_needs_no_scrolling_sideways(
    visit: Visit, width: int
) -> None:
    visitor = visit("admin", viewport={"width": width, "height": 720})
    visitor.open("sessions?limit=100")
    headings = visitor.page.locator("main thead th").all_inner_texts()
    cell = visitor.page.locator("main tbody td").nth(headings.index("First input"))
    box = cell.bounding_box()

    assert box is not None
    assert box["width"] >= 200
    assert box["x"] + box["width"] <= width
    assert visitor.page.locator("main .scroll").evaluate(HIDDEN_WIDTH) <= 0


def test_a_narrow_window_cuts_off_no_first_input(visit: Visit) -> None:
    visitor = visit("admin", viewport={"width": 320, "height": 640})
    visitor.open("sessions?limit=100")

    cut = visitor.page.locator("main td.rest").evaluate_all(
        f"cells => cells.filter(cell => ({HIDDEN_WIDTH})(cell) > 0).length"
    )
    assert cut == 0
    assert visitor.overflow() <= 0


def test_slow_and_failed(visit: Visit, counts: Counts) -> None:
    visitor = visit("admin", refusals_expected=True)
    held: list[Route] = []
    visitor.page.route(LIST, lambda route: held.append(route))  # noqa: PLW0108
    visitor.page.goto(f"{visitor.url}/console#/sessions")

    working = visitor.page.get_by_role("status").filter(has_text="takes longer")
    expect(working).to_be_visible()
    expect(visitor.page.locator("[data-busy=true]")).to_have_count(1)
    counts.check(visitor, "sessions, slow")

    answer = {"data": {"code": "unavailable", "errors": [], "request_id": "r1"}}
    body = orjson.dumps({**answer, "message": "the database can't be reached"})
    held[0].fulfill(status=503, content_type="application/json", body=body)
    alert = visitor.page.get_by_role("alert")
    expect(alert).to_contain_text("the database can't be reached")
    expect(alert).to_contain_text("r1")
    counts.check(visitor, "sessions, failed")

    visitor.page.unroute(LIST)
    visitor.click("Try again")
    expect(visitor.page.locator("main tbody tr")).to_have_count(25)


def test_the_page_before_stays_until_a_quick_answer(visit: Visit) -> None:
    visitor = visit("admin")
    visitor.page.add_init_script(NEVER_LATE)
    visitor.open("overview")
    held = Held(visitor.page, "/api/observability/session/list")
    visitor.page.get_by_role("link", name="Sessions", exact=True).click()

    expect(visitor.page.locator("[data-busy=true]")).to_have_count(1)
    expect(visitor.page.locator("h1")).to_have_text("Overview")
    expect(visitor.page.locator(".working")).to_have_count(0)
    held.release()
    expect(visitor.page.locator("main tbody tr")).to_have_count(25)
    expect(visitor.page.locator("h1")).to_have_text("Sessions")
    expect(visitor.page.locator("h1")).to_be_focused()
    assert visitor.page.evaluate("workingWasShown") is False


def test_unreachable(visit: Visit) -> None:
    visitor = visit("admin").open("overview")
    visitor.page.route(LIST, lambda route: route.abort())
    visitor.page.get_by_role("link", name="Sessions", exact=True).click()

    expect(visitor.page.get_by_role("alert")).to_contain_text("can't be reached")
    visitor.errors.clear()


def test_forbidden_says_why_and_is_not_offered(
    visit: Visit, demo: DemoData, counts: Counts
) -> None:
    visitor = visit("ada", refusals_expected=True).open("overview")
    offered = visitor.page.locator("nav.pages a").all_inner_texts()
    assert {"Audit trail", "Users"}.isdisjoint(offered)
    visitor.shows("nav.pages", "for superusers and auditors")

    visitor.open("audit")
    visitor.shows(".not-offered", "for superusers and auditors")

    visitor.open("prices")
    expect(visitor.page.get_by_role("button", name="Set a price")).to_have_count(0)
    visitor.shows(".not-offered", "for superusers")
    visitor.open(f"agents/{demo.agent_id}")
    expect(visitor.page.get_by_role("alert").first).to_contain_text("Not found")
    counts.check(visitor, "audit, forbidden", "agent, not visible")


def test_hostile_names_are_shown_as_text(visit: Visit, demo: DemoData) -> None:
    name = HOSTILE[:100]
    agent = demo.call("POST", "/api/catalog/agents", {"name": name})
    demo.call(
        "PUT",
        f"/api/catalog/agents/{agent['id']}",
        {"name": name, "description": "x" * 1000},
    )
    visitor = visit("admin", viewport={"width": 320, "height": 640})
    for address in ("agents", f"agents/{agent['id']}", "audit", "sessions"):
        visitor.open(address)
        if address != "sessions":
            assert "onerror" in visitor.page.locator("main").inner_text()
        assert visitor.page.locator("main img, main script").count() == 0
        assert visitor.overflow() <= 0


def test_a_name_that_turns_the_text_around_it_is_isolated(
    visit: Visit, demo: DemoData
) -> None:
    name = "\u05e9\u05dc\u05d5\u05dd (42"
    demo.call("POST", "/api/catalog/agents", {"name": name})
    visitor = visit("admin").open("agents")

    isolated = visitor.page.locator("main tbody bdi").filter(has_text=name)
    expect(isolated).to_be_visible()


def test_numbers_in_texts_stay_as_they_were_written(
    visit: Visit, demo: DemoData
) -> None:
    text = 'say "1.50", then \\" -2.5e3 {"a":1.750,"b":[0.10]} \\'
    agent = demo.call("POST", "/api/catalog/agents", {"name": "Numbers"})
    path = f"/api/catalog/agents/{agent['id']}"
    demo.call("PUT", path, {"name": "Numbers", "description": text})
    visitor = visit("admin").open(f"agents/{agent['id']}")

    visitor.shows(".facts", text)


def test_a_link_restores_filters_time_zone_and_page(visit: Visit) -> None:
    visitor = visit("admin").open("sessions")
    visitor.page.get_by_label("Errors").select_option("false")
    visitor.click("Apply")
    visitor.settled()
    visitor.page.get_by_label("Time zone").select_option("Asia/Tokyo")
    following = visitor.page.get_by_role("link", name="Next page")
    expect(following).to_have_attribute("href", re.compile("tz=Asia"))
    following.click()
    expect(visitor.page.get_by_role("link", name="First page")).to_be_visible()
    visitor.settled()
    rows = visitor.page.locator("main tbody tr").all_inner_texts()

    other = visit("admin")
    other.page.goto(visitor.page.url.replace(visitor.url, other.url))
    other.settled()

    expect(other.page.get_by_label("Time zone")).to_have_value("Asia/Tokyo")
    expect(other.page.get_by_label("Errors")).to_have_value("false")
    others = other.page.locator("main tbody tr")
    expect(others).to_have_text(rows, use_inner_text=True)
    other.page.go_back()
    visitor.page.go_back()
    expect(visitor.page.get_by_role("link", name="First page")).to_have_count(0)


def test_a_page_says_how_recent_it_is(visit: Visit, demo: DemoData) -> None:
    visitor = visit("admin").open("agents")
    before = visitor.page.locator(".as-of").inner_text()
    assert re.match(r"as of position \d+, \d+ (s|min|h) ago", before)

    demo.call("POST", "/api/catalog/agents", {"name": "Newcomer"})
    visitor.click("Refresh")

    visitor.shows("main tbody", "Newcomer")


def test_a_revoked_token_signs_the_browser_out(visit: Visit, demo: DemoData) -> None:
    me = f"/api/users/{demo.user_id}/tokens"
    issued = demo.call("POST", me, {"label": "to be revoked"})
    visitor = visit(None, refusals_expected=True)
    visitor.sign_in(issued["token"])
    demo.call("DELETE", f"{me}/{issued['id']}")

    visitor.page.get_by_role("link", name="Agents", exact=True).click()

    expect(visitor.page.get_by_label("Token")).to_be_visible()
