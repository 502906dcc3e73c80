"""Pages of what was when: charts, time lines, and two times side by side."""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import Locator, expect

from tests.integration.console.browser.conftest import Visit
from tests.integration.console.browser.visitor import Visitor
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough


def chart(visitor: Visitor, caption: str) -> Locator:
    """Return the chart with this caption, once it is drawn."""
    found = visitor.page.locator("figure.chart").filter(has_text=caption)
    expect(found.locator(".canvas canvas")).to_be_visible()
    return found


def drawn(chart: Locator) -> bool:
    """Return whether anything but background is on the chart."""
    return bool(
        chart.locator("canvas").evaluate(
            "canvas => canvas.getContext('2d')"
            ".getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean)"
        )
    )


def table_of(chart: Locator) -> Locator:
    chart.get_by_text("The same as a table").click()
    return chart.locator("tbody tr")


def test_a_session_shows_its_turns_and_cost_over_time(
    visit: Visit, demo: DemoData
) -> None:
    path = f"/api/observability/session/{demo.session_id}"
    session = demo.call("GET", path)
    visitor = visit("admin").open(f"sessions/{demo.session_id}")

    turns = visitor.page.locator(".turn")
    expect(turns).to_have_count(len(session["turns"]))
    for index, turn in enumerate(session["turns"]):
        expect(turns.nth(index)).to_contain_text(turn["input"])
        expect(turns.nth(index)).to_contain_text(turn["output"])
        expect(turns.nth(index)).to_contain_text(f"{turn['provider']}/{turn['model']}")
    cost = chart(visitor, "Cost over time")
    assert drawn(cost)
    expect(table_of(cost)).to_have_count(len(session["turns"]))


@pytest.mark.parametrize(
    ("times", "ends"),
    [([100], [70, 130]), ([100, 100], [70, 130]), ([100, 105, 160], [100, 160])],
)
def test_a_line_of_one_moment_has_a_minute_around_it(
    visit: Visit, times: list[int], ends: list[int]
) -> None:
    page = visit("admin").open("sessions").page

    found = page.evaluate(
        "x => import('/console/app/chart.js').then(({endsOf}) => endsOf(x))", times
    )
    assert found == ends


@pytest.mark.parametrize(
    ("other", "member"), [("model", "model"), ("agent", "agent_id")]
)
def test_usage_is_charted_by_day_and_another_group(
    visit: Visit, demo: DemoData, other: str, member: str
) -> None:
    agents = demo.call("GET", "/api/catalog/agents?limit=100")["agents"]
    names = {each["id"]: each["name"] for each in agents}
    visitor = visit("admin")
    # The page's own answer: another may be of another day.
    with visitor.page.expect_response("**/api/usage?*top=*") as answered:
        visitor.open(f"usage?by={other}")
    usage = answered.value.json()["data"]["usage"]

    cost = chart(visitor, f"Cost by day and {other}")
    assert drawn(cost)
    for group in {row[member] for row in usage}:
        expect(cost.locator(".legend")).to_contain_text(names.get(group, group))
    expect(table_of(cost)).to_have_count(len({row["day"] for row in usage}))


def test_exposure_is_shown_as_a_picture(visit: Visit, demo: DemoData) -> None:
    wiki = {"name": "Handbook", "url": "https://handbook.example/mcp"}
    connector = demo.call("POST", "/api/mcp/connectors", wiki)
    public = f"/api/mcp/connectors/{connector['id']}/grants/public"
    demo.call("POST", public)
    demo.call("DELETE", public)
    visitor = visit("admin").open(f"connectors/{connector['id']}")

    picture = visitor.page.get_by_role("img", name="Who could use it")
    expect(picture).to_contain_text("everybody (public)")
    expect(picture.locator(".span")).to_have_count(1)
    row = visitor.page.get_by_role("table", name="Periods").locator("tbody tr")
    expect(row).to_contain_text("everybody, as it was public")
    expect(row).not_to_contain_text("still")

    demo.call("POST", public)
    visitor.click("Refresh")
    expect(picture.locator(".span")).to_have_count(2)
    expect(row.filter(has_text="still")).to_have_count(1)


def test_the_prices_of_a_model_are_shown_over_time(
    visit: Visit, demo: DemoData
) -> None:
    prices = "/api/llm-router/prices"
    model = {"provider": "openai", "model": "slow-1"}
    for month, cost in (("01", "4"), ("03", "3")):
        since = f"2026-{month}-01T00:00:00Z"
        price = {"input_price_per_1m": cost, "output_price_per_1m": None}
        demo.call("POST", prices, {**model, **price, "effective_from": since})
    visitor = visit("admin").open("prices/openai/slow-1")

    picture = visitor.page.get_by_role("img", name="Periods, input / output")
    expect(picture).to_contain_text("4 / ? USD")
    expect(picture).to_contain_text("3 / ? USD")

    # As of any time, and as known at any time.
    row = visitor.page.locator("main tbody tr")
    visitor.open("prices?model=slow-1&as_of=2026-02-01")
    expect(row.locator("td").nth(2)).to_have_text("4")
    visitor.open("prices?model=slow-1&as_of=2026-04-01")
    expect(row.locator("td").nth(2)).to_have_text("3")
    visitor.open("prices?model=slow-1&at=1")
    visitor.shows("main", "No model has a price")


def test_decisions_at_two_times_stand_side_by_side(
    visit: Visit, demo: DemoData
) -> None:
    rules = f"/api/mcp/agents/{demo.agent_id}/tools"
    before = demo.call("GET", rules)["rules"]
    then = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    tool = {"connector_id": demo.connector_id, "tool_pattern": "create_*"}
    demo.call("PUT", rules, {"rules": [*before, {**tool, "stance": "deny"}]})
    visitor = visit("olga")
    address = f"explain?connector={demo.connector_id}&agent={demo.agent_id}"
    visitor.open(f"{address}&tool=create_issue&other={then}")

    differs = "The decision differs between the two times."
    visitor.shows("main", differs)
    expect(visitor.page.get_by_role("heading", name="Now")).to_be_visible()
    visitor.page.get_by_label("Compare with").fill("now")
    visitor.click("Apply")
    same = "The decision is the same at both times."
    visitor.shows("main", same)
    demo.call("PUT", rules, {"rules": before})
