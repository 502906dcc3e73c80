"""One-time codes, each of which stands for a token until it is used or expires."""

import secrets
import time
from collections.abc import Callable
from typing import Final

from cachetools import TTLCache

CODE_BYTES: Final = 24
LIFETIME_S: Final = 600.0
CODES_MAX: Final = 100


class SignInCodes:
    """The codes of one process."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._tokens: TTLCache[str, str] = TTLCache(CODES_MAX, LIFETIME_S, timer=clock)

    def issue(self, token: str) -> str:
        """Return a code for a token, valid once and for ``LIFETIME_S``."""
        code = secrets.token_urlsafe(CODE_BYTES)
        self._tokens[code] = token
        return code

    def redeem(self, code: str) -> str | None:
        """Return the code's token, or None if it is unknown, used or expired."""
        token: str | None = self._tokens.pop(code, None)
        return token
