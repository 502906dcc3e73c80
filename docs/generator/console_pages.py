"""The table of the console's pages, from what each says of itself."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from docs.generator.markdown import PROJECT, between

DOCUMENT: Final = Path("docs/console.md")
STATIC: Final = Path("service/console/static")
_SAID: Final = re.compile(r"(Page|Shows|Does):\s*(.*)")


def console_page() -> str:
    return between(DOCUMENT, table(PROJECT))


def table(project: Path) -> str:
    """Return a row for each page of the navigation, and each that gives its name.

    :raises ValueError: a page doesn't say what it shows
    """
    return "\n".join(["| page | shows | does |", "|---|---|---|", *_rows(project)])


def listed_pages(project: Path) -> list[dict[str, str]]:
    """Return what ``PAGES`` of ``app/pages.js`` says of each page, in its order."""
    script = (project / STATIC / "app/pages.js").read_text("utf-8")
    _, _, listed = script.partition("export const PAGES = [")
    entries = re.findall(r"\{([^{}]*)\}", listed.partition("\n];")[0])
    return [dict(re.findall(r'(\w+): "([^"]*)"', each)) for each in entries]


def _rows(project: Path) -> Iterator[str]:
    for page in listed_pages(project):
        file = STATIC / f"pages/{page['module']}.js"
        said = _said((project / file).read_text("utf-8"))
        name = page.get("label") or said.get("Page")
        if not name:
            continue
        if not said.get("Shows"):
            raise ValueError(
                f"{file}: say what the page shows in a line of its first comment, "
                '"// Shows: ...", and what one can do there in "// Does: ..."'
            )
        cells = (name, said["Shows"], said.get("Does", ""))
        yield "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"


def _said(script: str) -> dict[str, str]:
    """Return what the first comment of a page's module says, joined, by its mark."""
    said: dict[str, str] = {}
    mark = ""
    for line in script.splitlines():
        if not line.startswith("//"):
            break
        text = line.removeprefix("//").strip()
        if found := _SAID.fullmatch(text):
            mark, said[mark] = found.groups()
        elif mark:
            said[mark] = f"{said[mark]} {text}".strip()
    return said
