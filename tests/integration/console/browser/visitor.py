"""One person at the console: a browser context, and what it has reported."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Self

from playwright.sync_api import (
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Response,
    expect,
)

from tests.support.console.vendor import TESTED

AXE: Final = TESTED / "axe.min.js"
TAGS: Final = [
    *("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"),
]
# Far beyond what a busy machine needs.
TIMEOUT_MS: Final = 60_000
STEPS_MAX: Final = 200
expect.set_options(timeout=TIMEOUT_MS)
# Chromium reports each answer of 400 and more as an error of the page.
REFUSED: Final = re.compile(r"Failed to load resource: the server responded with")


@dataclass
class Visitor:
    """A browser context, with everything that its page has complained of.

    ``requests`` are the paths of the API that it has asked for, in order.
    """

    page: Page
    url: str
    errors: list[str] = field(default_factory=list)
    policy_reports: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    refusals_expected: bool = False

    def open(self, address: str) -> Self:
        """Show a page of the console, once everything that it asked for is there."""
        self.page.goto(f"{self.url}/console#/{address}")
        self.settled()
        return self

    def settled(self) -> None:
        """Wait until a page is shown and no request is under way.

        What a click or a new address asks for is under way from the next turn of the
        page's event loop on.
        """
        self.page.evaluate("new Promise(done => setTimeout(done))")
        expect(self.page.locator("main h1").first).to_be_visible(timeout=TIMEOUT_MS)
        busy = ".working, main [aria-busy=true]"
        expect(self.page.locator(busy)).to_have_count(0, timeout=TIMEOUT_MS)
        expect(self.page.locator("[data-busy=true]")).to_have_count(
            0, timeout=TIMEOUT_MS
        )

    def sign_in(self, token: str) -> None:
        self.page.goto(f"{self.url}/console")
        self.page.get_by_label("Token").fill(token)
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.page.locator("header")).to_be_visible(timeout=TIMEOUT_MS)
        self.settled()

    def confirm(self, label: str, confirmation: str | None = None) -> None:
        """Press a button, and the one of the dialog that it opens."""
        self.page.get_by_role("button", name=label, exact=True).first.click()
        dialog = self.page.get_by_role("dialog")
        expect(dialog).to_be_visible()
        assert self.violations() == []
        dialog.get_by_role("button", name=confirmation or label, exact=True).click()
        expect(dialog).to_have_count(0)

    def send(self, fields: Mapping[str, str]) -> None:
        """Fill fields of the dialog by their labels, and send it by the keyboard."""
        dialog = self.page.get_by_role("dialog")
        for label, value in fields.items():
            dialog.get_by_label(label, exact=True).fill(value)
        self.press("Enter")

    def edit_rule(self, pattern: str) -> Locator:
        """Open the form of a rule in the rule editor, and return it."""
        editor = self.page.get_by_role("form", name="Rules", exact=True)
        row = editor.get_by_role("row").filter(
            has=self.page.get_by_text(pattern, exact=True)
        )
        row.get_by_role("button", name="Edit rule").click()
        return editor.get_by_role("group", name="Rule")

    def violations(self) -> list[str]:
        """Return what axe finds wrong with the page as it is shown."""
        self.page.evaluate(AXE.read_text("utf-8"))
        found = self.page.evaluate(
            "tags => axe.run(document, {runOnly: {type: 'tag', values: tags}})"
            ".then(({violations, passes}) => ({violations, passed: passes.length}))",
            TAGS,
        )
        assert found["passed"] > 0
        return [
            f"{each['id']}: {json.dumps(node['html'])[:300]} {node['failureSummary']}"
            for each in found["violations"]
            for node in each["nodes"]
        ]

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than its window."""
        width: int = self.page.evaluate(
            "document.documentElement.scrollWidth - innerWidth"
        )
        return width

    def click(self, label: str) -> None:
        self.page.get_by_role("button", name=label).click()

    def shows(self, selector: str, text: "str | re.Pattern[str]") -> None:
        """Expect a text in the element that a selector finds."""
        expect(self.page.locator(selector)).to_contain_text(text)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def tab_to(self, name: str, element: str, *, key: str = "Tab") -> None:
        """Press Tab until the element of this kind and label has the focus."""
        for _ in range(STEPS_MAX):
            self.page.keyboard.press(key)
            if self.page.evaluate(FOCUSED, [name, element]):
                return
        raise AssertionError(f"the keyboard doesn't reach {name!r}")

    def heard(self, message: ConsoleMessage) -> None:
        if message.type not in {"error", "warning"}:
            return
        if REFUSED.match(message.text) and self.refusals_expected:
            return
        self.errors.append(message.text)

    def reported(self, report: str) -> None:
        self.policy_reports.append(report)

    def answered(self, response: Response) -> None:
        path = response.url.removeprefix(self.url)
        if path.startswith("/api/"):
            self.requests.append(path)


FOCUSED: Final = """
([name, kind]) => {
  const element = document.activeElement;
  const own = element.ariaLabel ?? element.textContent;
  const label = element.labels?.[0]?.textContent ?? own;
  return label.trim().startsWith(name) && element.localName === kind;
}
"""


def visitor_in(context: BrowserContext, url: str) -> Visitor:
    """Open a page whose complaints are collected."""
    context.set_default_timeout(TIMEOUT_MS)
    page = context.new_page()
    visitor = Visitor(page, url)
    page.expose_function("policyReported", visitor.reported)
    page.add_init_script(
        "addEventListener('securitypolicyviolation', event => "
        "policyReported(`${event.violatedDirective}: ${event.blockedURI}`))"
    )
    page.on("console", visitor.heard)
    page.on("pageerror", lambda error: visitor.errors.append(str(error)))
    page.on("response", visitor.answered)
    return visitor
