"""Costs in several currencies, costs that are known in part, and costs of a page."""

from typing import Any, Final

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.integration.console.browser.answers import answer
from tests.integration.console.browser.conftest import Visit
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough

TOKENS: Final = {"prompt": 10, "completion": 5, "total": 15}
NO_TOKENS: Final = {"prompt": None, "completion": None, "total": None}


def usage(day: str, known: dict[str, Any], without_price: int = 0) -> Any:
    """Return a day's usage as the service sums it up."""
    costs = [{"currency": each, "cost": known[each]} for each in sorted(known)]
    is_complete = len(costs) == 1 and not without_price
    return {
        "day": day,
        "turns": len(costs) + without_price,
        "turns_with_error": 0,
        "turns_without_price": without_price,
        "unpriced": (
            [{"reason": "no_such_model", "turns": without_price}]
            if without_price
            else []
        ),
        "token_usage": TOKENS,
        "known_token_usage": TOKENS,
        "cost": costs[0]["cost"] if is_complete else None,
        "currency": costs[0]["currency"] if is_complete else None,
        "known_costs": costs,
        "completeness": {"estimated": {"turns": 0, "share_of_cost": None}},
        "differing": {"turns": 0, "cost": None, "reported_cost": None},
    }


DAYS: Final = [
    usage("2026-03-01", {"EUR": 3, "USD": 1}),
    usage("2026-03-02", {"USD": 0.5}, without_price=1),
    usage("2026-03-03", {"USD": 2}),
]


def table(page: Page, caption: str) -> Locator:
    """Return the rows of a table, also of one that isn't unfolded."""
    named = page.locator("caption").get_by_text(caption, exact=True)
    return page.locator("main table").filter(has=named).locator("tbody tr")


def test_each_currency_has_a_chart_of_all_that_is_known(visit: Visit) -> None:
    visitor = visit("admin")
    answer(visitor.page, "/api/usage", {"usage": DAYS, "has_next_page": False})
    visitor.open("usage")

    expect(visitor.page.locator("figure.chart .u-wrap")).to_have_count(2)
    expect(table(visitor.page, "Cost by day, in EUR")).to_have_text(
        ["2026-03-013.00 EUR", "2026-03-02unknown", "2026-03-030.00 EUR"]
    )
    expect(table(visitor.page, "Cost by day, in USD")).to_have_text(
        ["2026-03-011.00 USD", "2026-03-020.50 USD + unknown", "2026-03-032.00 USD"]
    )
    assert visitor.violations() == []


def test_an_unknown_cost_is_never_charted_as_none(visit: Visit) -> None:
    # given
    days = [
        usage("2026-03-01", {"USD": 3}) | {"model": "swift"},
        usage("2026-03-01", {"USD": 0}) | {"model": "free"},
        usage("2026-03-02", {"USD": 2}, without_price=1) | {"model": "swift"},
        usage("2026-03-02", {}, without_price=2) | {"model": "other"},
        usage("2026-03-03", {}, without_price=1) | {"model": "swift"},
        usage("2026-03-04", {"USD": 0}) | {"model": "swift"},
    ]
    visitor = visit("admin")
    answer(visitor.page, "/api/usage", {"usage": days, "has_next_page": False})

    # when
    visitor.open("usage?by=model&each=1")

    # then
    caption = "Cost by day and model, in USD"
    rows = table(visitor.page, caption)
    expect(rows.locator("td:nth-child(2)")).to_have_text(
        ["3.00 USD", "2.00 USD + unknown", "unknown", "0.00 USD"]
    )
    expect(rows.locator("td:nth-child(3)")).to_have_text(
        ["0.00 USD", "unknown", "0.00 USD", "0.00 USD"]
    )
    expect(rows.first.locator("td")).to_have_count(3)
    chart = visitor.page.locator("figure.chart").filter(has_text=caption)
    expect(chart.locator("p")).to_have_text(
        "2 of 4 days have a part without a price, which isn't drawn."
    )
    assert visitor.violations() == []


def test_the_only_series_of_a_chart_has_a_name(visit: Visit) -> None:
    # given
    other = {"model": None, "is_other": True}
    days = [
        usage("2026-03-01", {"USD": 3}) | {"model": "swift"},
        usage("2026-03-01", {"EUR": 2}) | other,
    ]
    visitor = visit("admin")
    answer(visitor.page, "/api/usage", {"usage": days, "has_next_page": False})

    # when
    visitor.open("usage?by=model&each=1")

    # then
    legends = visitor.page.locator("figure.chart .legend")
    expect(legends).to_have_text(["all others", "swift"])


def test_the_file_has_all_rows_that_the_filters_find(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit("admin").open("usage?by=model")
    with visitor.page.expect_download() as saved:
        visitor.click("Save as CSV")

    header, *rows = saved.value.path().read_text("utf-8").splitlines()
    models = demo.call("GET", "/api/usage?group_by=model&order=cost")["usage"]
    assert header.startswith("model,turns,")
    assert [row.split(",")[0] for row in rows] == [row["model"] or "" for row in models]


def test_a_model_lacks_the_prices_of_its_own_calls(visit: Visit) -> None:
    # A turn of both, where slow's cost is unknown, and one of slow.
    swift = usage("", {"USD": 1}) | {"model": "swift", "turns_without_price": 1}
    slow = usage("", {"USD": 2}) | {
        "model": "slow",
        "unpriced": [
            {"reason": "count_missing", "turns": 1},
            {"reason": "no_price_then", "turns": 2},
        ],
        "cost": None,
        "currency": None,
    }
    unknown = usage("", {}, without_price=3) | {"model": "other"}
    visitor = visit("admin")
    answer(visitor.page, "/api/usage", {"usage": [swift, slow, unknown]})
    visitor.open("usage?by=model")

    caption = "Usage by model, the largest cost first"
    rows = table(visitor.page, caption).locator("td:nth-child(6), td:last-child")
    expect(rows).to_have_text(
        [
            *("1 USD", "0"),
            *("2 USD + unknown", "1 count_missing, 2 no_price_then"),
            *("unknown", "3 no_such_model"),
        ]
    )
    visitor.click("Without a price")
    expect(rows.nth(1)).to_have_text("0")
    visitor.click("Without a price")
    expect(rows.nth(5)).to_have_text("0")
    assert visitor.violations() == []


def test_what_is_an_estimate_and_what_differs_is_told(visit: Visit) -> None:
    # given
    days = [
        usage("2026-03-01", {"USD": 4})
        | {"completeness": {"estimated": {"turns": 1, "share_of_cost": 0.125}}},
        usage("2026-03-02", {"EUR": 3, "USD": 1})
        | {"completeness": {"estimated": {"turns": 2, "share_of_cost": None}}},
        usage("2026-03-03", {"USD": 2})
        | {"completeness": {"estimated": {"turns": 1, "share_of_cost": 0.996}}}
        | {"differing": {"turns": 1, "cost": 0.5, "reported_cost": 0.25}},
    ]
    visitor = visit("admin")
    answer(visitor.page, "/api/usage", {"usage": days, "has_next_page": False})

    # when
    visitor.open("usage")

    # then
    cells = table(visitor.page, "Usage by day").locator(
        "td:nth-child(7), td:nth-child(8)"
    )
    expect(cells).to_have_text(
        [
            *("1 turn, 13% of the cost", "0"),
            *("2 turns", "0"),
            *("1 turn, over 99% of the cost", "1 turn: 0.5 USD, reported: 0.25 USD"),
        ]
    )
    # A turn of two models is counted twice.
    visitor.shows("main", "is counted for each model")
    visitor.click("Differs from reported")
    expect(cells.nth(1)).to_have_text("0")
    visitor.click("Differs from reported")
    expect(cells.nth(1)).to_have_text("1 turn: 0.5 USD, reported: 0.25 USD")
    assert visitor.violations() == []


def test_tokens_that_are_known_in_part_say_so(visit: Visit) -> None:
    # given
    unknown = {"token_usage": NO_TOKENS}
    prompt_lacks = {"known_token_usage": TOKENS | {"prompt": None, "total": 5}}
    no_call = {"known_token_usage": NO_TOKENS, "turns": 1}
    days = [
        usage("2026-03-01", {"USD": 1}),
        usage("2026-03-02", {"USD": 1}, without_price=1) | unknown,
        usage("2026-03-03", {}, without_price=1) | unknown | prompt_lacks,
        usage("2026-03-04", {}) | unknown | no_call,
    ]
    visitor = visit("admin")
    answer(visitor.page, "/api/usage", {"usage": days, "has_next_page": False})

    # when
    visitor.open("usage")

    # then
    cells = table(visitor.page, "Usage by day").locator(
        "td:nth-child(4), td:nth-child(5)"
    )
    expect(cells).to_have_text(
        [
            *("10", "5"),
            *("10 + unknown", "5 + unknown"),
            *("unknown", "5 + unknown"),
            *("\u2013", "\u2013"),
        ]
    )

    # when
    answer(visitor.page, "/api/usage", {"usage": days[1:2], "has_next_page": False})
    visitor.open("overview")

    # then
    card = visitor.page.locator(".card").filter(has_text="Cost today")
    expect(card).to_contain_text("15 + unknown tokens")


def test_the_cost_of_today_is_what_is_known_of_it(visit: Visit) -> None:
    visitor = visit("admin")
    answer(visitor.page, "/api/usage", {"usage": DAYS[:1], "has_next_page": False})
    visitor.open("overview")

    card = visitor.page.locator(".card").filter(has_text="Cost today")
    expect(card.locator(".figure")).to_have_text("3.00 EUR + 1.00 USD")
    expect(card.locator("p").last).to_have_text("2 turns, 15 tokens")

    partly = DAYS[1] | {"turns": 1452, "turns_with_error": 83}
    answer(visitor.page, "/api/usage", {"usage": [partly], "has_next_page": False})
    visitor.click("Refresh")
    expect(card.locator(".figure")).to_have_text("0.50 USD + unknown")
    expect(card.locator("p").last).to_have_text(
        "1,452 turns, 15 tokens, 83 turns failed, 1 turn without a price"
    )


def test_sessions_are_summed_up_in_each_currency(visit: Visit, demo: DemoData) -> None:
    totals = [(1.5, "USD"), (2, "EUR"), (0.25, "USD"), (None, None), (None, None)]
    path = "/api/observability/session/list"
    data = demo.call("GET", f"{path}?limit={len(totals)}")
    for session, (cost, currency) in zip(data["sessions"], totals, strict=True):
        session["cost_summary"]["total"] = {"cost": cost, "currency": currency}
        session["num_traces"] = 1
    # It has no turns yet, so nothing of its cost is unknown.
    data["sessions"][-1]["num_traces"] = 0
    visitor = visit("admin")
    answer(visitor.page, path, data)
    visitor.open("sessions")

    visitor.shows(".totals", "2.00 EUR + 1.75 USD, the cost of 1 session unknown")


@pytest.mark.parametrize(
    ("query", "label"),
    [("", "Cost so far"), ("?offset=1", "Cost so far on this page")],
)
def test_a_session_adds_up_each_currency_by_itself(
    visit: Visit, demo: DemoData, query: str, label: str
) -> None:
    path = f"/api/observability/session/{demo.session_id}"
    data = demo.call("GET", path)
    turn = data["turns"][0]
    costs = [(0.5, "USD"), (2, "EUR"), (None, None), (0.25, "USD")]
    data["turns"] = [
        turn | {"turn_id": f"turn {index}", "cost": cost, "currency": currency}
        for index, (cost, currency) in enumerate(costs)
    ]
    visitor = visit("admin")
    answer(visitor.page, path, data)
    visitor.open(f"sessions/{demo.session_id}{query}")

    expect(visitor.page.locator("figure.chart .u-wrap")).to_have_count(2)
    dollars = table(visitor.page, "Cost over time, in USD")
    expect(dollars.locator("td:first-child")).to_have_text(["turn 0", "turn 3"])
    expect(dollars.locator("td:last-child")).to_have_text(["0.5 USD", "0.75 USD"])
    euros = table(visitor.page, "Cost over time, in EUR")
    expect(euros.locator("td:last-child")).to_have_text(["2 EUR"])
    expect(visitor.page.locator("figure.chart th:last-child")).to_have_text([label] * 2)
    assert visitor.violations() == []


@pytest.mark.parametrize(
    ("reasons", "cost"),
    [
        ([], "0.75 USD"),
        (
            ["count_missing", "no_such_model"],
            "unknown (count_missing, no_such_model)",
        ),
    ],
)
def test_a_session_without_a_cost_says_why(
    visit: Visit, demo: DemoData, reasons: list[str], cost: str
) -> None:
    path = f"/api/observability/session/{demo.session_id}"
    data = demo.call("GET", path)
    data["cost_summary"] |= {
        "total": {
            "cost": None if reasons else 0.75,
            "currency": None if reasons else "USD",
        },
        "unpriced": reasons,
        "traces_without_price": 0,
    }
    visitor = visit("admin")
    answer(visitor.page, path, data)
    visitor.open(f"sessions/{demo.session_id}")

    fact = visitor.page.locator(".facts div").filter(
        has=visitor.page.get_by_text("Cost", exact=True)
    )
    expect(fact.locator("dd")).to_have_text(cost)
    assert visitor.violations() == []
