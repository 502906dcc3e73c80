"""Times that a caller's clock tells, beside this service's."""

from datetime import UTC, datetime, timedelta
from typing import Final

# Tolerance for clock skew; a turn in the future would be first in every list.
CLOCK_AHEAD_MAX: Final = timedelta(minutes=5)


def ahead_of_clock(at: datetime, now: datetime) -> str | None:
    """Return what is wrong with a time too far ahead of ``now``; None if it isn't."""
    if at <= now + CLOCK_AHEAD_MAX:
        return None
    ahead_s = (at - now) // timedelta(seconds=1)
    return (
        f"is in the future: {_text(at)} is {ahead_s} s ahead of this service's clock,"
        f" {_text(now)}; set the clock that is wrong"
    )


def _text(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
