"""Markdown from texts that know nothing of it, for pages or parts of them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).parent.parent.parent
BEGIN: Final = "<!-- made by make generated: begin -->"
END: Final = "<!-- made by make generated: end -->"


def entries(found: Iterable[tuple[str, str]]) -> list[str]:
    """Return a line for each thing and what is said about it; no line end breaks it."""
    return [f"- {thing}: {' '.join(said.split())}" for thing, said in found]


def code(text: str) -> str:
    return f"`{text}`"


def between(path: Path, content: str, project: Path = PROJECT) -> str:
    """Return a page of the project with this content between its two markers.

    :raises ValueError: the page doesn't have both of them once, in their order
    """
    page = (project / path).read_text("utf-8")
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not end or BEGIN in rest or END in head + tail:
        raise ValueError(
            f"{path}: a page with a part that is generated has one line {BEGIN}, and "
            f"one line {END} after it"
        )
    return f"{head}{begin}\n\n{content}\n\n{end}{tail}"
