"""Lists in Markdown from texts that know nothing of it."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).parent.parent.parent
BEGIN: Final = "<!-- made by make generated: begin -->"
END: Final = "<!-- made by make generated: end -->"
_MADE: Final = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)


def entries(found: Iterable[tuple[str, str]]) -> list[str]:
    """Return a line for each thing and what is said about it; no line end breaks it."""
    return [f"- {thing}: {' '.join(said.split())}" for thing, said in found]


def code(text: str) -> str:
    return f"`{text}`"


def between(page: str, content: str) -> str:
    """Return a page with this content in its generated part.

    :raises ValueError: it has no such part, or two
    """
    made, count = _MADE.subn(lambda _: f"{BEGIN}\n\n{content}\n\n{END}", page)
    if count != 1:
        raise ValueError(f"the page needs one {BEGIN} and one {END}")
    return made
