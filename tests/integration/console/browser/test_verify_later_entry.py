"""An entry later than the kept checkpoint: proved only by a newer one, signed."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.integration.console.browser.conftest import Visit
from tests.integration.console.browser.test_verify import says, verify, visit_log
from tests.integration.console.browser.tree import Tree

pytestmark = pytest.mark.thorough


class Unsigned(Tree):
    """A log that answers without its newest checkpoint."""

    def consistency(self, first: int, second: int) -> dict[str, Any]:
        return {**super().consistency(first, second), "checkpoint": None}


def test_an_entry_after_the_checkpoint_is_proved_by_way_of_the_newest(
    visit: Visit,
) -> None:
    tree = Tree(100)
    visitor = visit_log(visit, tree)
    verify(visitor, tree.checkpoint(37), tree.key, "80")

    says(visitor, "Genuine")
    visitor.shows(".checks", "it is in the newest tree")


@pytest.mark.parametrize("missing", ["the key", "the newest checkpoint"])
def test_only_entries_under_a_checked_signature_count_as_proved(
    visit: Visit, missing: str
) -> None:
    tree = Tree(100) if missing == "the key" else Unsigned(100)
    visitor = visit_log(visit, tree)
    verify(visitor, tree.checkpoint(37), "" if missing == "the key" else tree.key, "80")

    says(visitor, "Not proved")
    expect(visitor.page.locator(".verdict")).not_to_contain_text("signed log")
    visitor.shows(".checks", "no signature of that tree was checked")
    assert visitor.violations() == []
