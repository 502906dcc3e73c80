"""Every page of the console, with the address of one example."""

from collections.abc import Callable, Mapping
from typing import Final

from tests.console.browser.service import DemoData

PAGES: Final[Mapping[str, Callable[[DemoData], str]]] = {
    "overview": lambda _: "overview",
    "sessions": lambda _: "sessions",
    "session": lambda demo: f"sessions/{demo.session_id}",
}
