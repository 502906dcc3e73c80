"""The slug of a connector: what its tools' names begin with in an agent's list."""

import re
from typing import Final

SLUG_CHARACTERS_MAX: Final = 24
SLUG_PATTERN: Final = r"^[a-z0-9]([a-z0-9-]{0,22}[a-z0-9])?$"
WITHOUT_LETTERS: Final = "connector"

_BETWEEN: Final = re.compile(r"[^a-z0-9]+")


def slug_of(name: str) -> str:
    """Return the slug that follows from a name, for a connector without its own."""
    words = _BETWEEN.sub("-", name.lower()).strip("-")
    return words[:SLUG_CHARACTERS_MAX].strip("-") or WITHOUT_LETTERS
