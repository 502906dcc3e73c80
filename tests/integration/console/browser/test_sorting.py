"""Sorting a table by one of its columns."""

import pytest
from playwright.sync_api import Page, expect

from tests.integration.console.browser.conftest import Visit

pytestmark = pytest.mark.thorough

STATE = "State"
TURNS = "Turns"


def shown(page: Page) -> tuple[list[str], list[list[str]]]:
    """Return the headings, and the texts of each row by its cells."""
    found: tuple[list[str], list[list[str]]] = tuple(
        page.evaluate(
            """() => {
              const texts = (row) => [...row.cells].map((cell) => cell.textContent);
              const {tHead, tBodies} = document.querySelector("main table");
              return [texts(tHead.rows[0]), [...tBodies[0].rows].map(texts)];
            }"""
        )
    )
    return found


def test_each_row_keeps_its_cells_when_sorted(visit: Visit) -> None:
    visitor = visit("admin").open("sessions?limit=100")
    # Names take the place of ids when their list has been read.
    expect(visitor.page.locator("main tbody code")).to_have_count(0)
    headings, rows = shown(visitor.page)
    state, turns = (
        next(index for index, each in enumerate(headings) if each.startswith(name))
        for name in (STATE, TURNS)
    )
    # Some states are text alone, others have an element of their own.
    assert len({row[state] for row in rows}) > 1

    for direction, backwards in (("ascending", False), ("descending", True)):
        visitor.page.get_by_role("button", name=TURNS).click()
        sorted_by = visitor.page.locator("main th").nth(turns)
        expect(sorted_by).to_have_attribute("aria-sort", direction)

        _, after = shown(visitor.page)
        counts = [int(row[turns].replace(",", "")) for row in after]
        assert counts == sorted(counts, reverse=backwards)
        assert sorted(after) == sorted(rows)
