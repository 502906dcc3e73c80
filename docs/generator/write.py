"""Every page of ``docs/`` that is generated, or has a part that is."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from docs.generator.commands import commands_page
from docs.generator.console_pages import DOCUMENT, console_page
from docs.generator.events import EVENTS, events_page
from docs.generator.folders import (
    ARCHITECTURE,
    CONTRACTS,
    architecture_page,
    import_contracts,
)
from docs.generator.metrics import metrics_page
from docs.generator.operations import operations_page
from docs.generator.settings import settings_page

PAGES: Final[Mapping[Path, Callable[[], str]]] = {
    Path("docs/operations/settings.md"): settings_page,
    Path("docs/operations/commands.md"): commands_page,
    Path("docs/operations/metrics.md"): metrics_page,
    Path("docs/api/operations.md"): operations_page,
    DOCUMENT: console_page,
    EVENTS: events_page,
    ARCHITECTURE: architecture_page,
    CONTRACTS: import_contracts,
}


def files() -> dict[Path, str]:
    """Return the content of every page, by path in the project."""
    return {path: page() for path, page in PAGES.items()}
