"""A text that must not be shown by accident."""

import hmac
from typing import Final


class Secret:
    """A secret text: ``reveal`` returns it, and nothing else shows it.

    Its ``repr`` and ``str`` are empty, it can't be pickled, and it is compared in
    constant time.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text: Final = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret()"

    def __str__(self) -> str:
        return ""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._text.encode(), other._text.encode())

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> str:
        raise TypeError("a secret can't be pickled")


def revealed(text: str | Secret) -> str:
    """Return the text of a secret, or a text as it is."""
    return text.reveal() if isinstance(text, Secret) else text
