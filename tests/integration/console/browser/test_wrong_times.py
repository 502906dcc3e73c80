"""A time that can't be read is said to be wrong: it never means now, nor forever."""

from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import expect

from tests.integration.console.browser.conftest import Visit
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough

WRONG: Final = "“last Tuesday” is no time"
# The page's address, and what it may not ask for.
READS: Final[Mapping[str, tuple[Callable[[DemoData], str], str]]] = {
    "prices": (lambda _: "prices?as_of=last%20Tuesday", "/api/llm-router/providers"),
    "prices as known": (
        lambda _: "prices?at=last%20Tuesday",
        "/api/llm-router/providers",
    ),
    "explain": (
        lambda demo: (
            f"explain?connector={demo.connector_id}&tool=create_issue&at=last%20Tuesday"
        ),
        "/api/mcp/agents",
    ),
    "exposure": (
        lambda demo: f"connectors/{demo.connector_id}?since=last%20Tuesday",
        "/api/audit/connectors",
    ),
    "audit": (lambda _: "audit?from=last%20Tuesday", "/api/audit"),
    "sessions": (
        lambda _: "sessions?until=last%20Tuesday",
        "/api/observability/session",
    ),
}


@pytest.mark.parametrize("name", READS)
def test_a_page_reads_nothing_at_a_wrong_time(
    visit: Visit, demo: DemoData, name: str
) -> None:
    address, path = READS[name]
    visitor = visit("admin").open(address(demo))

    expect(visitor.page.get_by_role("alert")).to_contain_text(WRONG)
    assert [each for each in visitor.requests if each.startswith(path)] == []
    assert visitor.violations() == []


def test_rules_of_a_wrong_time_are_not_restored(visit: Visit, demo: DemoData) -> None:
    visitor = visit("admin").open(f"agents/{demo.agent_id}")
    visitor.page.get_by_text("Restore earlier rules").click()
    visitor.page.get_by_label("Rules as of").fill("last Tuesday")
    visitor.click("Show them")

    expect(visitor.page.get_by_role("alert")).to_contain_text(WRONG)
    restore = visitor.page.get_by_role("button", name="Restore these rules")
    expect(restore).to_have_count(0)


@pytest.mark.parametrize(
    "text",
    [
        "2026-13-45",
        "2026-02-31",
        "2026-05-31 25:99",
        "2026-05-31 14:00:60",
        "2026-02-31T14:00:00Z",
    ],
)
def test_a_day_or_hour_outside_the_calendar_is_refused(visit: Visit, text: str) -> None:
    visitor = visit("admin").open(f"sessions?from={quote(text)}")

    expect(visitor.page.get_by_role("alert")).to_contain_text(f"“{text}” is no time")
    path = "/api/observability/session"
    assert [each for each in visitor.requests if each.startswith(path)] == []


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("2024-02-29", "2024-02-28T15:00:00.000Z"),
        ("2026-05-31 14:00", "2026-05-31T05:00:00.000Z"),
        ("2026-05-31T14:00:30.25Z", "2026-05-31T14:00:30.250Z"),
        ("2026-05-31 14:00+0200", "2026-05-31T12:00:00.000Z"),
    ],
)
def test_times_are_of_the_chosen_zone_or_of_their_offset(
    visit: Visit, text: str, sent: str
) -> None:
    visitor = visit("admin").open(f"sessions?tz=Asia/Tokyo&from={quote(text)}")

    (read,) = [each for each in visitor.requests if "/session/list" in each]
    assert parse_qs(urlsplit(read).query)["start_time"] == [sent]


def test_a_price_is_set_from_a_time_that_is_typed(visit: Visit, demo: DemoData) -> None:
    visitor = visit("admin").open("prices")
    visitor.click("Set a price")
    dialog = visitor.page.get_by_role("dialog")
    for label, value in {
        "Provider key": " openai ",
        "Model": "typed-1",
        "Input price": "1",
        "Effective from": "2026-05-31 14:00",
    }.items():
        dialog.get_by_label(label, exact=True).press_sequentially(value)
    visitor.press("Enter")
    expect(dialog).to_have_count(0)

    path = "/api/llm-router/prices?provider=openai&model=typed-1"
    (price,) = demo.call("GET", path)["prices"]
    assert price["effective_from"] == "2026-05-31T14:00:00Z"


@pytest.mark.parametrize("text", ["last Tuesday", "1234"])
def test_a_price_from_a_wrong_time_is_not_set(
    visit: Visit, demo: DemoData, text: str
) -> None:
    visitor = visit("admin").open("prices")
    visitor.click("Set a price")
    price = {"Provider key": "openai", "Model": "never-set", "Input price": "1"}
    visitor.send({**price, "Effective from": text})

    expect(visitor.page.get_by_role("dialog").get_by_role("alert")).to_contain_text(
        f"“{text}” is no time"
    )
    models = [
        model["model"]
        for provider in demo.call("GET", "/api/llm-router/providers")
        for model in provider["models"]
    ]
    assert "never-set" not in models
