"""Correcting a price keeps what the person doesn't touch."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.integration.console.browser.conftest import Visit
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough


def set_price(demo: DemoData, model: str, **values: Any) -> None:
    body = {"provider": "openai", "model": model, "input_price_per_1m": 2}
    demo.call("POST", "/api/llm-router/prices", body | values)


def current(demo: DemoData, model: str) -> Any:
    path = f"/api/llm-router/prices?provider=openai&model={model}"
    prices = demo.call("GET", path)["prices"]
    (price,) = [each for each in prices if each["known_until"] is None]
    return price


def test_a_correction_changes_only_what_was_changed(
    visit: Visit, demo: DemoData
) -> None:
    notes = "As of the contract,\nsecond page"
    set_price(
        demo,
        "kept-1",
        output_price_per_1m="8.125",
        cache_creation_price_per_1m="2.5",
        cache_read_price_per_1m="0.25",
        currency="EUR",
        notes=notes,
    )
    visitor = visit("admin").open("prices/openai/kept-1")
    visitor.click("Correct")
    dialog = visitor.page.get_by_role("dialog")
    assert visitor.violations() == []
    dialog.get_by_label("Input price", exact=True).fill("3")
    dialog.get_by_label("Cache read price", exact=True).fill("0.375")
    dialog.get_by_role("button", name="Correct").click()
    expect(dialog).to_have_count(0)

    corrected = current(demo, "kept-1")
    amounts = {name: corrected[name] for name in corrected if "price_per_1m" in name}
    assert amounts == {
        "input_price_per_1m": 3,
        "output_price_per_1m": 8.125,
        "cache_creation_price_per_1m": 2.5,
        "cache_read_price_per_1m": 0.375,
    }
    assert (corrected["currency"], corrected["notes"]) == ("EUR", notes)


def test_a_price_with_more_rates_is_not_corrected_by_the_form(
    visit: Visit, demo: DemoData
) -> None:
    tiers = {"price": "2", "tiers": [{"above": 200000, "price": "4"}]}
    structure = {"rates": {"input_tokens": tiers}, "windows": [], "variants": []}
    set_price(demo, "tiers-1", structure=structure)
    visitor = visit("admin").open("prices/openai/tiers-1")

    expect(visitor.page.get_by_role("button", name="End")).to_be_visible()
    expect(visitor.page.get_by_role("button", name="Correct")).to_have_count(0)
    version = current(demo, "tiers-1")["price_version"]
    visitor.shows(".not-offered", f"/prices/{version}/corrections")
    assert visitor.violations() == []
