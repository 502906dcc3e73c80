"""What an answer says of when, and whether, its provider answers again."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import orjson

from service.upstream_http.response import Response

PAYMENT_REQUIRED: Final = 402
TOO_MANY_REQUESTS: Final = 429
# A provider that is out of credit says so with one of these, and a code or a sentence.
MAYBE_OUT_OF_CREDIT: Final = frozenset({400, 403, 429})
OUT_OF_CREDIT: Final = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
)
NO_CREDIT: Final = "Your credit balance is too low"
# Of errors that say something of a provider, and nothing of the prompt.
OF_PROVIDER: Final = frozenset(
    {
        "api_error",
        "overloaded_error",
        "rate_limit_error",
        "rate_limit_exceeded",
        "server_error",
        "slow_down",
    }
)
MILLISECONDS: Final = 0.001


def is_out_of_credit(status: int, body: bytes) -> bool:
    if status == PAYMENT_REQUIRED:
        return True
    if status not in MAYBE_OUT_OF_CREDIT:
        return False
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return False
    error = document.get("error") if isinstance(document, dict) else None
    if not isinstance(error, dict):
        return False
    # No more than the beginning: a message may quote a prompt.
    has_none = str(error.get("message")).startswith(NO_CREDIT)
    return has_none or not OUT_OF_CREDIT.isdisjoint(_names(error))


def is_of_provider(error: object) -> bool:
    """Whether an error in a stream says that its provider can't answer now."""
    if not isinstance(error, dict):
        return False
    # OpenRouter's codes are statuses.
    statuses = [code for code in (error.get("code"),) if isinstance(code, int)]
    is_status = any(
        code == TOO_MANY_REQUESTS or code >= HTTPStatus.INTERNAL_SERVER_ERROR
        for code in statuses
    )
    return is_status or not OF_PROVIDER.isdisjoint(_names(error))


def _names(error: Mapping[str, object]) -> set[str]:
    return {
        each for each in (error.get("code"), error.get("type")) if isinstance(each, str)
    }


def retry_after_s(response: Response) -> float | None:
    """Return in how many seconds to call again; None if it doesn't say, or by a date.

    Providers send more exact headers beside the one of RFC 9110, section 10.2.3.
    """
    for name, unit in ((b"retry-after-ms", MILLISECONDS), (b"retry-after", 1.0)):
        given = response.header(name)
        try:
            seconds = float(given or "") * unit
        except ValueError:
            continue
        if seconds >= 0:
            return seconds
    return None
