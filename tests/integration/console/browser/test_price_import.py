"""Importing a price list in the browser: first a dry run, then the import itself."""

from typing import Any, Final

import orjson
import pytest
from playwright.sync_api import Locator, expect

from tests.integration.console.browser.conftest import Counts, Visit
from tests.integration.console.browser.visitor import Visitor
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough

LISTED: Final = "/api/llm-router/prices?provider=acme&model=acme-small"
CHANGES: Final = "/api/audit/events?kind=model_pricing&limit=1"


def price_file(cost: float) -> bytes:
    entry = {"litellm_provider": "acme", "mode": "chat", "input_cost_per_token": cost}
    return orjson.dumps({"acme-small": entry})


def choose(visitor: Visitor, content: bytes) -> None:
    visitor.page.get_by_label("List", exact=True).select_option("litellm")
    visitor.page.get_by_label("Price file").set_input_files(
        {"name": "prices.json", "mimeType": "application/json", "buffer": content}
    )


def press(visitor: Visitor, label: str, *counts: str) -> None:
    visitor.page.get_by_role("button", name=label, exact=True).click()
    said = {"Dry run": "would change", "Import": "changed"}[label]
    heading = visitor.page.get_by_role("heading", name=f"What the import {said}")
    expect(heading).to_be_visible()
    report = visitor.page.get_by_role("status").filter(has_text="held back")
    for count in counts:
        expect(report).to_contain_text(count)


def input_price(visitor: Visitor) -> Locator:
    """The cell of the only model of the list; its row shows a time, too."""
    row = visitor.page.locator("main table").first.locator("tbody tr")
    return row.get_by_role("cell").nth(2)


def last_change(demo: DemoData) -> Any:
    return demo.call("GET", CHANGES)["entries"][0]["position"]


def test_a_dry_run_of_an_import_changes_nothing(
    visit: Visit, demo: DemoData, counts: Counts
) -> None:
    visitor = visit("admin").open("prices")
    before = last_change(demo)
    visitor.page.get_by_text("Import a price list").click()
    press(visitor, "Dry run", "unchanged")

    counts.check(visitor, "prices, dry run of an import")
    assert last_change(demo) == before


def test_a_file_is_imported_after_its_dry_run_and_once(
    visit: Visit, demo: DemoData, counts: Counts
) -> None:
    visitor = visit("admin").open("prices?model=acme-small")
    rows = visitor.page.locator("main table").first.locator("tbody tr")
    visitor.shows("main", "No model has a price")
    visitor.page.get_by_text("Import a price list").click()

    choose(visitor, price_file(2.5e-6))
    press(visitor, "Dry run", "1 added")
    visitor.shows("main", "No model has a price")

    press(visitor, "Import", "1 added")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("acme-small")
    expect(input_price(visitor)).to_have_text("2.5")
    counts.check(visitor, "prices, imported")
    (price,) = demo.call("GET", LISTED)["prices"]
    assert price["source"]["name"] == "litellm"

    after = last_change(demo)
    press(visitor, "Dry run", "0 added", "1 unchanged")
    press(visitor, "Import", "0 added", "1 unchanged")
    assert last_change(demo) == after


def test_a_held_back_price_is_imported_once_it_is_confirmed(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit("admin").open("prices?model=acme-held")
    visitor.page.get_by_text("Import a price list").click()

    def file(cost: float) -> bytes:
        return price_file(cost).replace(b"acme-small", b"acme-held")

    choose(visitor, file(1e-6))
    press(visitor, "Dry run", "1 added")
    press(visitor, "Import", "1 added")
    choose(visitor, file(9e-6))
    press(visitor, "Dry run", "1 held back")
    visitor.shows("main", "price of 1,000,000 input_tokens: 1 before, 9 after")
    press(visitor, "Import", "1 held back")
    expect(input_price(visitor)).to_have_text("1")

    press(visitor, "Dry run", "1 held back")
    visitor.page.get_by_label("Held-back models").fill("acme/acme-held")
    press(visitor, "Import", "1 changed")
    expect(input_price(visitor)).to_have_text("9")


def test_another_file_than_a_price_list_changes_nothing(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit("admin", refusals_expected=True).open("prices")
    before = last_change(demo)
    visitor.page.get_by_text("Import a price list").click()
    choose(visitor, b"[1, 2]")
    visitor.click("Dry run")

    expect(visitor.page.get_by_role("alert")).to_contain_text("LiteLLM price file")
    assert visitor.page.get_by_role("button", name="Import", exact=True).count() == 0
    assert last_change(demo) == before


def test_skipped_rows_are_listed_those_with_invalid_prices_first(
    visit: Visit,
) -> None:
    visitor = visit("admin").open("prices")
    visitor.page.get_by_text("Import a price list").click()
    picture = {"litellm_provider": "acme", "mode": "image_generation"}
    priced = {"litellm_provider": "acme", "mode": "chat", "input_cost_per_token": 1e-6}
    invalid = {**priced, "input_cost_per_token_batches": "free"}
    rows = {f"picture-{number}": picture for number in range(200)}

    choose(visitor, orjson.dumps({"swift": priced, **rows, "free": invalid}))
    press(visitor, "Dry run", "1 added", "201 skipped")

    table = visitor.page.get_by_role("table", name="Skipped rows")
    expect(table.locator("tbody tr")).to_have_count(200)
    first = table.locator("tbody tr").first
    expect(first).to_contain_text("input_cost_per_token_batches isn't a number")
    expect(table.locator("tbody tr").nth(1)).to_contain_text("priced by token")
    visitor.shows("main", "1 row of the list with an invalid price")
    visitor.shows("main", "And 1 more.")
