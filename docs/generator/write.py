"""Every generated reference page of ``docs/``."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from docs.generator.commands import commands_page
from docs.generator.metrics import metrics_page
from docs.generator.operations import operations_page
from docs.generator.settings import settings_page

PAGES: Final[Mapping[Path, Callable[[], str]]] = {
    Path("docs/operations/settings.md"): settings_page,
    Path("docs/operations/commands.md"): commands_page,
    Path("docs/operations/metrics.md"): metrics_page,
    Path("docs/api/operations.md"): operations_page,
}


def write(project: Path) -> None:
    for path, page in PAGES.items():
        file = project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page(), encoding="utf-8")
