"""Every page: without violations, reports or errors, in both schemes and narrow."""

import pytest

from tests.console.browser.conftest import Counts, Visit
from tests.console.browser.pages import PAGES
from tests.console.browser.service import DemoData

pytestmark = pytest.mark.processes

NARROW = {"width": 320, "height": 640}


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_in_either_scheme(
    visit: Visit, demo: DemoData, counts: Counts, name: str
) -> None:
    visitor = visit("admin", color_scheme="light")
    visitor.open(PAGES[name](demo))
    for is_dark in (False, True):
        visitor.page.emulate_media(color_scheme="dark" if is_dark else "light")
        visitor.settled()
        found = visitor.violations()
        counts.axe_checks += 1
        counts.violations += len(found)
        assert found == []
    counts.states.add(name)
    assert visitor.overflow() <= 0


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_lost_at_320_pixels(visit: Visit, demo: DemoData, name: str) -> None:
    """A window of 1,280 pixels at 400 % has 320, too."""
    visitor = visit("admin", viewport=NARROW)
    visitor.open(PAGES[name](demo))

    assert visitor.overflow() <= 0
    assert visitor.page.get_by_role("link", name="Verify").first.is_visible()


@pytest.mark.parametrize("user", ["ada", "olga"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_for_whoever_may_do_less(
    visit: Visit, demo: DemoData, counts: Counts, name: str, user: str
) -> None:
    visitor = visit(user)
    visitor.refusals_expected = True
    visitor.open(PAGES[name](demo))

    assert visitor.violations() == []
    counts.axe_checks += 1
    counts.states.add(f"{name} as {user}")
