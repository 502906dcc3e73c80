"""Tell by an upstream's error whether it has lost the session of a request."""

import re
from http import HTTPStatus
from typing import Any, Final

from service.gateway.protocol.errors import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
)
from service.gateway.upstream.dialects import Dialect

# About what a request says, not about how it was sent.
_ABOUT_CALLS: Final = (INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CAPABILITY)
_CHARACTERS_READ: Final = 300
# Servers don't agree on a code.
_LOST: Final = re.compile(
    r"\b(no|not a|bad|missing|invalid|unknown|expired|stale|unrecogni[sz]ed)\b"
    r".{0,30}session"
    r"|session.{0,60}\b(not|n't|missing|invalid|unknown|unrecogni[sz]ed|required|"
    r"no longer|ended|expired|terminated|closed|lost|gone)\b"
    r"|(\bnot|n't)\b.{0,20}\binitiali[sz]ed|uninitiali[sz]ed|before initiali[sz]",
    re.IGNORECASE | re.DOTALL,
)


def code_of(error: Any) -> int | None:
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) else None


def is_about_call(error: Any) -> bool:
    """Say whether a refusal is of what the request says."""
    return code_of(error) in _ABOUT_CALLS


def is_invalid_request(error: Any, status: int, dialect: Dialect) -> bool:
    """Say whether an error is of a request that no tool has got.

    Stateless servers answer errors of tools with status 400, too.
    """
    is_bad = status == HTTPStatus.BAD_REQUEST and not dialect.is_stateless
    return code_of(error) == INVALID_REQUEST or (is_bad and not is_about_call(error))


def says_lost(error: Any) -> bool:
    """Say whether an error, or its text, is about a session that isn't there.

    A tool may have sessions of its own, so it may be about them.
    """
    text = error.get("message") if isinstance(error, dict) else error
    return isinstance(text, str) and bool(_LOST.search(text[:_CHARACTERS_READ]))
