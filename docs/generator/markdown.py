"""Tables of Markdown from texts that know nothing of it."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table; a line end or ``|`` in a cell doesn't break it."""
    return [
        _line(head),
        "|" + "---|" * len(head),
        *(_line([_cell(each) for each in row]) for row in rows),
    ]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    return f"`{text}`"
