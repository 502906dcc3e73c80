"""The console in a browser, through each proxy."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.integration.console.browser.chromium import chromium
from tests.integration.console.browser.visitor import TIMEOUT_MS, visitor_in
from tests.integration.proxies.programs import Proxy
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough

PAGES = ("overview", "agents", "connectors", "sessions", "calls", "audit", "operation")


# Playwright's event loop runs as long as it is open: asynchronous tests come after it.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


def test_the_console(proxy: Proxy, demo: DemoData, browser: Browser) -> None:
    with browser.new_context(ignore_https_errors=True) as context:
        visitor = visitor_in(context, proxy.url_in_browser)
        visitor.sign_in(demo.tokens["admin"])

        [cookie] = context.cookies()
        assert cookie["name"].startswith("__Host-")
        assert (cookie["secure"], cookie["httpOnly"]) == (True, True)
        for page in PAGES:
            visitor.open(page)
        name = f"Seen through {proxy.name}"
        visitor.open("audit?kind=agent.registered")
        visitor.click("Follow live")
        demo.call("POST", "/api/catalog/agents", {"name": name})
        expect(visitor.page.locator("main tbody tr").first).to_contain_text(name)
        visitor.click("Sign out")
        expect(visitor.page.get_by_label("Token")).to_be_visible(timeout=TIMEOUT_MS)
        assert (context.cookies(), visitor.errors) == ([], [])
