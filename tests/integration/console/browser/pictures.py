"""Make the pictures of docs/console.md: ``make pictures``."""

import tempfile
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, ViewportSize

from tests.integration.console.browser.chromium import chromium
from tests.integration.console.browser.visitor import Visitor, visitor_in
from tests.support.console.browser.pages import PAGES
from tests.support.console.browser.service import DemoData, serve_demo
from tests.support.project import ROOT

FOLDER: Final = ROOT / "docs/console"
SIZE: Final[ViewportSize] = {"width": 1000, "height": 620}
SHOWN: Final = (
    *("overview", "approval", "call"),
    *("sessions", "session", "usage", "agent", "connector"),
    *("explain-all", "price", "audit", "verify", "operation"),
)


def verified(visitor: Visitor, demo: DemoData) -> None:
    page: Page = visitor.page
    page.get_by_label("Your checkpoint").fill(demo.text("/api/audit/checkpoint"))
    key = demo.call("GET", "/api/audit/checkpoint/key")["public_key"]
    page.get_by_label("Public key").fill(key)
    page.get_by_role("button", name="Verify", exact=True).click()
    page.get_by_role("status").filter(has_text="Genuine").wait_for()
    page.locator("form.stack").evaluate("form => form.remove()")


def make() -> None:
    FOLDER.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        chromium() as browser,
        serve_demo(Path(folder)) as demo,
        browser.new_context(viewport=SIZE, color_scheme="light") as context,
    ):
        visitor = visitor_in(context, demo.url)
        visitor.sign_in(demo.tokens["admin"])
        for name in SHOWN:
            visitor.open(PAGES[name](demo))
            if name == "verify":
                verified(visitor, demo)
            if name == "approval":
                visitor.page.get_by_role("button", name="Show the arguments").click()
                visitor.page.get_by_label("Arguments").wait_for()
            # A chart is drawn after its page.
            for _ in range(visitor.page.locator(".canvas").count()):
                visitor.page.locator(".canvas canvas").first.wait_for()
            visitor.page.evaluate("scrollTo(0, 0)")
            if name == "agent":
                visitor.page.locator("main td", has_text="✓ allow").first.wait_for()
                heading = visitor.page.get_by_role("heading", name="Effective")
                heading.evaluate("heading => heading.scrollIntoView()")
            visitor.page.screenshot(path=FOLDER / f"{name}.png")


if __name__ == "__main__":
    make()
