"""Usage: who spent most, and how each period's cost is drawn."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.integration.console.browser.answers import answer
from tests.integration.console.browser.conftest import Visit
from tests.integration.console.browser.test_costs import table, usage
from tests.support.console.browser.service import DemoData
from tests.support.waiting import until_blocking

pytestmark = pytest.mark.thorough

# Long ago, so that no other test sees it.
DAYS: Final = ("2025-03-01", "2025-03-02")
SPAN: Final = f"from={DAYS[0]}&until={DAYS[1]}"
MODELS: Final = [f"many-{number:03}" for number in range(105)]
PRICES: Final = {"many-103": 9, "many-104": 20, "many-001": 1}
LARGEST: Final = ["many-104", "many-103", "many-001", "many-000", "many-002"]

# Width, height and lowest row of each bar of the first series' colour, from the left.
BARS: Final = """
canvas => {
  const colour = getComputedStyle(document.documentElement)
    .getPropertyValue("--series-1").trim().match(/[0-9a-f]{2}/gi)
    .map((each) => parseInt(each, 16));
  const {data, width, height} = canvas.getContext("2d")
    .getImageData(0, 0, canvas.width, canvas.height);
  const rowsAt = (x) => [...Array(height).keys()].filter((y) =>
    colour.every((part, index) => data[(y * width + x) * 4 + index] === part));
  const bars = [];
  let before = 0;
  for (let x = 0; x < width; x += 1) {
    const rows = rowsAt(x);
    if (rows.length && !before) bars.push({width: 0, height: 0, foot: rows.at(-1)});
    if (rows.length) bars.at(-1).width += 1;
    if (rows.length) bars.at(-1).height = Math.max(bars.at(-1).height, rows.length);
    before = rows.length;
  }
  return bars;
}
"""
LABELS: Final = """
window.drawnTexts = new Set();
const {fillText} = CanvasRenderingContext2D.prototype;
CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
  drawnTexts.add(text);
  return fillText.call(this, text, ...rest);
};
"""


@pytest.fixture(scope="module")
def many(demo: DemoData) -> None:
    """Turns with more models than a page has rows, few of which have a price."""
    for model, price in PRICES.items():
        body = {"provider": "openai", "model": model, "input_price_per_1m": price}
        since = {"output_price_per_1m": price, "effective_from": "2025-01-01T00:00:00Z"}
        demo.call("POST", "/api/llm-router/prices", body | since)
    path = "/api/observability/session"
    session = {"agent_id": demo.agent_id, "session_id": "many-models"}
    at = {"started_at": f"{DAYS[0]}T12:00:00Z"}
    demo.call("POST", path, session | at, user="ben")
    for number, model in enumerate(MODELS):
        day = DAYS[number % 2]
        turn = {
            "turn_id": model,
            "started_at": f"{day}T12:00:00Z",
            "ended_at": f"{day}T12:00:01Z",
            "provider": "openai",
            "model": model,
            "prompt_tokens": 1_000_000,
            "completion_tokens": 0,
            "input": "How many are you?",
            "output": "Many.",
        }
        demo.call("POST", f"{path}/many-models/turns", turn, user="ben")
    sums = f"/api/usage?from_day={DAYS[0]}&until_day={DAYS[1]}&group_by=model"
    until_blocking(lambda: demo.call("GET", sums)["groups"] == len(MODELS))


def cells(page: Page, caption: str, part: str = "tbody") -> list[list[str]]:
    """Return the texts of a table's rows by their cells."""
    named = page.locator("caption").get_by_text(caption, exact=True)
    rows = page.locator("main table").filter(has=named).locator(f"{part} tr")
    found: list[list[str]] = rows.evaluate_all(
        "rows => rows.map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    return found


def bars(page: Page) -> list[dict[str, int]]:
    canvas = page.locator("figure.chart canvas").first
    expect(canvas).to_be_visible()
    found: list[dict[str, int]] = canvas.evaluate(BARS)
    return found


@pytest.mark.usefixtures("many")
def test_the_one_that_spent_most_is_first_of_many(visit: Visit) -> None:
    visitor = visit("admin").open(f"usage?by=model&{SPAN}")
    caption = "Usage by model, the largest cost first"

    rows = cells(visitor.page, caption)
    assert len(rows) == 100
    assert [row[0] for row in rows[:5]] == LARGEST
    assert rows[0][5] == "20 USD"
    others, total = cells(visitor.page, caption, "tfoot")
    assert others[:2] == ["5 others", "5"]
    assert total[:2] == ["Total", "105"]
    assert total[5::3] == ["30 USD + unknown", "102 no_such_model"]
    visitor.shows(".paging", "1 to 100 of 105")
    assert visitor.violations() == []

    visitor.page.get_by_role("link", name="Next page").click()
    visitor.shows(".paging", "101 to 105 of 105")
    assert [row[0] for row in cells(visitor.page, caption)] == MODELS[98:103]
    others, total = cells(visitor.page, caption, "tfoot")
    assert others[:2] == ["100 others", "100"]
    assert total[:2] == ["Total", "105"]

    # Other filters begin at the first page.
    visitor.page.get_by_label("Model", exact=True).select_option("many-103")
    visitor.click("Apply")
    expect(table(visitor.page, caption)).to_have_count(1)
    expect(visitor.page.locator(".paging")).to_have_count(0)


def test_a_page_beyond_the_last_row_leads_back(visit: Visit) -> None:
    # given
    visitor = visit("admin")

    # when
    visitor.open("usage?by=model&offset=10000")

    # then
    visitor.shows(".empty", "There are no rows from here on.")
    expect(visitor.page.locator(".paging")).to_have_text("First page")
    visitor.page.get_by_role("link", name="First page").click()
    visitor.settled()
    assert cells(visitor.page, "Usage by model, the largest cost first") != []


@pytest.mark.usefixtures("many")
def test_each_day_has_the_largest_and_all_others(visit: Visit) -> None:
    visitor = visit("admin").open(f"usage?by=model&each=1&{SPAN}")

    rows = cells(visitor.page, "Usage by day and model")
    assert {row[0] for row in rows} == {*DAYS}
    others = [row for row in rows if row[1] == "all others"]
    assert [row[0] for row in others] == [*DAYS]
    assert sum(int(row[2]) for row in others) == len(MODELS) - 6
    (total,) = cells(visitor.page, "Usage by day and model", "tfoot")
    assert total[:3] == ["Total", "", "105"]
    with visitor.page.expect_download() as saved:
        visitor.click("Save as CSV")
    _, *lines = saved.value.path().read_text("utf-8").splitlines()
    assert len(lines) == len(MODELS)


@pytest.mark.usefixtures("many")
def test_filters_offer_what_was_used_and_say_that_nothing_matches(
    visit: Visit,
) -> None:
    visitor = visit("admin").open(f"usage?provider=OpenAI&{SPAN}")

    visitor.shows(".empty", "No turn of these days matches these filters.")
    provider = visitor.page.get_by_label("Provider")
    expect(provider.locator("option")).to_have_text(["any", "OpenAI", "openai"])
    expect(provider).to_have_value("OpenAI")
    provider.select_option("openai")
    visitor.click("Apply")
    expect(table(visitor.page, "Usage by day")).to_have_count(2)


def charted(known: Sequence[float], first: str = "2026-03-01") -> Any:
    start = datetime.fromisoformat(first)
    days = [(start + timedelta(days=n)).date().isoformat() for n in range(len(known))]
    rows = [usage(day, {"USD": cost}) for day, cost in zip(days, known, strict=True)]
    return {"usage": rows, "has_next_page": False}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_bars_begin_at_zero_and_are_whole(visit: Visit, scheme: str) -> None:
    visitor = visit("admin", color_scheme=scheme)
    answer(visitor.page, "/api/usage", charted([3, 3.5, 4, 7]))
    visitor.open("usage")

    drawn = bars(visitor.page)
    assert len(drawn) == 4
    for one, other in pairwise(drawn):
        assert abs(one["width"] - other["width"]) <= 2
        assert abs(one["foot"] - other["foot"]) <= 1
    highest = drawn[-1]["height"]
    assert highest > 60
    for bar, cost in zip(drawn, (3, 3.5, 4, 7), strict=True):
        assert abs(bar["height"] - highest * cost / 7) <= 3
    # All of their costs are known.
    expect(visitor.page.locator("figure.chart p")).to_have_count(0)


def test_one_day_is_one_bar_with_one_label(visit: Visit) -> None:
    visitor = visit("admin")
    visitor.page.add_init_script(LABELS)
    answer(visitor.page, "/api/usage", charted([2]))
    visitor.open("usage?from=2026-03-01&until=2026-03-01")

    (bar,) = bars(visitor.page)
    assert bar["width"] >= 40
    texts = visitor.page.evaluate("[...drawnTexts]")
    assert [each for each in texts if "-" in each] == ["2026-03-01"]


def test_long_times_are_charted_by_week_and_month(visit: Visit, demo: DemoData) -> None:
    visitor = visit("admin")
    for since, period in (("2026-01-01", "week"), ("2023-01-01", "month")):
        visitor.open(f"usage?from={since}")

        visitor.shows("figure.chart figcaption", f"Cost by {period}, in USD")
        found = demo.call("GET", f"/api/usage?group_by={period}&from_day={since}")
        rows = cells(visitor.page, f"Usage by {period}")
        assert [row[0] for row in rows] == [row["day"] for row in found["usage"]]


def test_the_last_days_are_one_click_away(visit: Visit) -> None:
    visitor = visit("admin").open("usage?by=agent&until=2025-03-02")
    now = datetime.fromisoformat(visitor.page.evaluate("new Date().toISOString()"))
    today = now.date()
    for label, days in (("Today", 1), ("Last 7 days", 7), ("Last 30 days", 30)):
        link = visitor.page.get_by_role("link", name=label)
        since = today - timedelta(days=days - 1)
        with visitor.page.expect_response(f"**/api/usage?*from_day={since}*"):
            link.click()
        visitor.settled()
        expect(link).to_have_attribute("aria-current", "true")
        expect(visitor.page.get_by_label("From day")).to_have_value(str(since))
        expect(visitor.page.get_by_label("Until day")).to_have_value("")
        expect(visitor.page.get_by_label("By", exact=True)).to_have_value("agent")


def test_days_are_those_of_the_chosen_zone(visit: Visit) -> None:
    visitor = visit("admin").open("usage?tz=Pacific/Kiritimati")

    asked = [each for each in visitor.requests if each.startswith("/api/usage?")]
    assert len(asked) == 2
    for each in asked:
        assert parse_qs(urlsplit(each).query)["time_zone"] == ["Pacific/Kiritimati"]
    visitor.shows(".lead", "by the day in Pacific/Kiritimati")


LONG_NAME: Final = "ghost-model-with-a-long-name-2026-01-01-preview"


def long_lines() -> Any:
    """Return the usage of a model with a long name, all of whose cells are long."""
    cost = {"EUR": 0.124878, "USD": 0.05251875}
    row = usage("2026-03-01", cost, without_price=12) | {
        "model": LONG_NAME,
        "completeness": {"estimated": {"turns": 12, "share_of_cost": 0.53}},
        "differing": {"turns": 3, "cost": 1.234567, "reported_cost": 2.345678},
    }
    many = {"prompt": 1_357_152, "completion": 479_643, "total": 1_836_795}
    tokens = {"known_token_usage": many, "token_usage": dict.fromkeys(many)}
    return {"usage": [row | tokens], "totals": row | tokens, "has_next_page": False}


def test_all_figures_are_seen_beside_a_long_name(visit: Visit) -> None:
    # given
    visitor = visit("admin", viewport={"width": 1400, "height": 900})
    answer(visitor.page, "/api/usage", long_lines())

    # when
    visitor.open("usage?by=model&each=1")

    # then
    name = table(visitor.page, "Usage by day and model").locator("td:nth-child(2)")
    expect(name).to_have_text(f"{LONG_NAME[:24]}…")
    expect(name.locator("bdi")).to_have_attribute("title", LONG_NAME)
    around = visitor.page.locator(".scroll").last
    widths = around.evaluate("around => [around.scrollWidth, around.clientWidth]")
    assert widths[0] <= widths[1]


def test_figures_that_are_scrolled_keep_their_name(visit: Visit) -> None:
    # given
    visitor = visit("admin", viewport={"width": 380, "height": 800})
    answer(visitor.page, "/api/usage", long_lines())
    visitor.open("usage?by=model&each=1")
    around = visitor.page.locator(".scroll").last
    rows = around.locator("tr")
    expect(rows).to_have_count(3)

    def places(column: int) -> list[float]:
        cells = rows.locator(f":scope > :nth-child({column})")
        found: list[float] = cells.evaluate_all(
            "cells => cells.map((cell) => cell.getBoundingClientRect().left)"
        )
        return found

    day, model, turns = places(1), places(2), places(3)

    # when
    around.evaluate("around => around.scrollLeft = 300")

    # then
    assert places(1) == day
    assert places(2) == model
    assert places(3) == [each - 300 for each in turns]

    # when
    around.evaluate("around => around.scrollLeft = 1000")
    button = around.get_by_role("button", name="Turns")
    button.focus()

    # then it isn't below them
    right = rows.first.locator(":scope > :nth-child(2)").evaluate(
        "cell => cell.getBoundingClientRect().right"
    )
    assert button.evaluate("button => button.getBoundingClientRect().left") >= right
    assert visitor.violations() == []


def test_rows_that_are_cut_have_no_second_page(visit: Visit) -> None:
    visitor = visit("admin")
    cut = charted([1, 2]) | {"has_next_page": True, "groups": 2000}
    answer(visitor.page, "/api/usage", cut)
    visitor.open("usage")

    visitor.shows(".warning", "Only the first 1,000 rows are shown")
    expect(visitor.page.locator(".paging")).to_have_count(0)
