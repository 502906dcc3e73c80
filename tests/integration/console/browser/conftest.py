"""A service with demo data and a browser for all tests of this folder."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, StorageState, expect

from tests.integration.console.browser.chromium import chromium
from tests.integration.console.browser.drafts import Draft, opened_draft
from tests.integration.console.browser.visitor import TIMEOUT_MS, Visitor, visitor_in
from tests.support.console.browser.service import DemoData, serve_demo
from tests.support.project import ROOT

Visit = Callable[..., Visitor]

DOCUMENT: Final = ROOT / "docs/console.md"
BY_LINK: Final = "admin, by the one-time link"
# What precedes the list, which is the rest of its section.
HEADING: Final = "It lists them here.\n"


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="package")
def demo(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[DemoData]:
    with serve_demo(tmp_path_factory.mktemp("console")) as data:
        yield data


@dataclass
class Counts:
    """What all tests together have checked."""

    axe_checks: int = 0
    violations: int = 0
    policy_reports: int = 0
    states: set[str] = field(default_factory=set)

    def check(self, visitor: Visitor, *states: str) -> None:
        """Let axe check the page as it is shown, in these states."""
        found = visitor.violations()
        self.axe_checks += 1
        self.violations += len(found)
        self.states |= {*states}
        assert found == []

    def as_markdown(self) -> str:
        """Return the sums, and the states by page; `PAGE as USER`, `PAGE, STATE`.

        What all pages were seen in is said once; pages seen in the same are together.
        """
        of_page: dict[str, list[str]] = {}
        for each in sorted(self.states):
            page, mark, state = each.partition(", " if ", " in each else " as ")
            said = f"as {state}" if mark == " as " else state or "as it is"
            of_page.setdefault(page, []).append(said)
        of_all = set.intersection(*map(set, of_page.values())) if of_page else set()
        pages_in: dict[str, list[str]] = {}
        for page, states in of_page.items():
            further = "; ".join(each for each in states if each not in of_all)
            pages_in.setdefault(further or "nothing else", []).append(page)
        sums = (
            f"{len(self.states)} pages and states, {self.axe_checks} checks by axe: "
            f"{self.violations} violations, {self.policy_reports} policy reports.\n"
        )
        lines = [
            sums,
            f"Every page: {'; '.join(sorted(of_all))}. Also:\n",
            *(f"- {', '.join(pages)}: {each}" for each, pages in pages_in.items()),
        ]
        return "\n".join(lines) + "\n"


@pytest.fixture(scope="package")
def counts(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Counts]:
    """Counts of the whole run, written to the file ``console-counts``.

    And with ``RECORD_CONSOLE_CHECKS`` to ``docs/console.md``: ``make console-checks``.
    """
    counted = Counts()
    yield counted
    path: Path = tmp_path_factory.getbasetemp() / "console-counts"
    path.write_text(counted.as_markdown())
    if os.environ.get("RECORD_CONSOLE_CHECKS"):
        text = DOCUMENT.read_text("utf-8")
        head, _, rest = text.partition(HEADING)
        _, _, after = rest.partition("\n## ")
        tail = f"\n## {after}" if after else ""
        checks = f"\n{counted.as_markdown()}"
        DOCUMENT.write_text(head + HEADING + checks + tail, "utf-8")


@pytest.fixture(scope="package")
def signed_in(browser: Browser, demo: DemoData) -> dict[str, StorageState]:
    """The cookie of each user, as the console sets it; and of the one-time link.

    The link is used at once, for it ends ten minutes after the service's start.
    """
    states = {}
    with browser.new_context() as context:
        page = visitor_in(context, demo.url).page
        page.goto(demo.sign_in_url)
        expect(page.locator("header")).to_contain_text("admin", timeout=TIMEOUT_MS)
        expect(page).to_have_url(re.compile("#/overview$"))
        states[BY_LINK] = context.storage_state()
    for name, token in demo.tokens.items():
        with browser.new_context() as context:
            visitor_in(context, demo.url).sign_in(token)
            states[name] = context.storage_state()
    return states


@pytest.fixture(autouse=True)
def removed_at_the_end(demo: DemoData) -> Iterator[None]:
    """Remove what the test made; being the first fixture, it is torn down last."""
    yield
    demo.remove_unneeded()


@pytest.fixture
def visit(
    browser: Browser,
    demo: DemoData,
    signed_in: dict[str, StorageState],
    counts: Counts,
) -> Iterator[Visit]:
    """Open the console as a user; at the end, nothing may have been reported."""
    visitors: list[Visitor] = []
    with ExitStack() as stack:

        def open_as(
            name: str | None = "admin",
            *,
            refusals_expected: bool = False,
            **options: Any,
        ) -> Visitor:
            state = signed_in[name] if name else None
            context = stack.enter_context(
                browser.new_context(storage_state=state, **options)
            )
            visitor = visitor_in(context, demo.url)
            visitor.refusals_expected = refusals_expected
            visitors.append(visitor)
            return visitor

        yield open_as
    for visitor in visitors:
        counts.policy_reports += len(visitor.policy_reports)
        assert visitor.policy_reports == []
        assert visitor.errors == []


@pytest.fixture
def draft(visit: Visit, demo: DemoData) -> Iterator[Draft]:
    with opened_draft(visit("ada", refusals_expected=True), demo) as opened:
        yield opened
