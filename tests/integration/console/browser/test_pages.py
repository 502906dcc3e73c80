"""Every page: without violations, reports or errors, in both schemes and narrow."""

import pytest

from tests.integration.console.browser.conftest import Counts, Visit
from tests.support.console.browser.pages import PAGES, REFUSING
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_in_both_schemes_and_in_320_pixels(
    visit: Visit, demo: DemoData, counts: Counts, name: str
) -> None:
    """A window of 1,280 pixels at 400 % has 320, too."""
    visitor = visit("admin", refusals_expected=name in REFUSING)
    visitor.open(PAGES[name](demo))
    for is_dark in (False, True):
        visitor.page.emulate_media(color_scheme="dark" if is_dark else "light")
        visitor.settled()
        counts.check(visitor)
    assert visitor.overflow() <= 0

    visitor.page.set_viewport_size({"width": 320, "height": 640})
    visitor.settled()

    assert visitor.overflow() <= 0
    assert visitor.page.get_by_role("link", name="Verify").first.is_visible()
    assert visitor.page.locator("main h1").is_visible()
    counts.states.add(name)


@pytest.mark.parametrize("user", ["ada", "olga"])
def test_pages_are_whole_for_those_who_may_do_less(
    visit: Visit, demo: DemoData, counts: Counts, user: str
) -> None:
    visitor = visit(user, refusals_expected=True)
    found = {}
    for name, address in PAGES.items():
        visitor.open(address(demo))
        found[name] = visitor.violations()
        counts.axe_checks += 1
        counts.violations += len(found[name])
        counts.states.add(f"{name} as {user}")

    assert {name: each for name, each in found.items() if each} == {}
