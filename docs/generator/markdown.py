"""Lists in Markdown from texts that know nothing of it."""

from collections.abc import Iterable


def entries(found: Iterable[tuple[str, str]]) -> list[str]:
    """Return a line for each thing and what is said about it; no line end breaks it."""
    return [f"- {thing}: {' '.join(said.split())}" for thing, said in found]


def code(text: str) -> str:
    return f"`{text}`"
