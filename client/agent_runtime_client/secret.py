"""A text that must not be shown by accident."""

import hmac
import re
from typing import Final

TOKEN: Final = re.compile(r"[!-~]+")


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


def token_of(given: str | Secret | None) -> Secret | None:
    """Return a client's token, without the line end of the file that it is from.

    :raises ValueError: no header takes it; the text isn't repeated
    """
    if given is None:
        return None
    text = revealed(given).strip()
    if not TOKEN.fullmatch(text):
        raise ValueError("a token is printable ASCII without spaces, and not empty")
    return Secret(text)
