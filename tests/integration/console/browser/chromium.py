"""The browser of the tests: Debian's Chromium, which Playwright is pointed at."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest
from playwright.sync_api import Browser, Error, sync_playwright

PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome")
NOT_TESTED: Final = "the console is not tested: there is no Chromium (apt-get install)"


def chromium_path() -> str:
    """Return the path of Chromium; skip without one, but never in CI."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is not None:
        return found
    if os.environ.get("CI"):
        pytest.fail(NOT_TESTED)
    pytest.skip(NOT_TESTED)


@contextmanager
def chromium() -> Iterator[Browser]:
    path = chromium_path()
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(
                executable_path=path,
                # As root in a container it has no sandbox to use.
                args=["--no-sandbox", "--disable-dev-shm-usage"],
                timeout=120_000,
            )
        except Error as error:
            pytest.fail(f"Playwright can't drive {path}: {error.message}")
        try:
            yield browser
        finally:
            browser.close()
