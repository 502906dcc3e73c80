"""What an answer says of when, and whether, its provider answers again."""

from typing import Final

from service.upstream_http.response import Response

PAYMENT_REQUIRED: Final = 402
TOO_MANY_REQUESTS: Final = 429
# A provider that is out of credit says so with one of these, and in its own words.
MAYBE_OUT_OF_CREDIT: Final = frozenset({400, 403, 429})
OUT_OF_CREDIT: Final = (
    b"insufficient_quota",
    b"billing_hard_limit_reached",
    b"billing_not_active",
    b"credit balance is too low",
)
MILLISECONDS: Final = 0.001


def is_out_of_credit(status: int, body: bytes) -> bool:
    if status == PAYMENT_REQUIRED:
        return True
    return status in MAYBE_OUT_OF_CREDIT and any(each in body for each in OUT_OF_CREDIT)


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
