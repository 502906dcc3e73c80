"""A time that is ahead of the service's clock is refused with both."""

from datetime import UTC, datetime, timedelta, timezone

from service.sessions.clocks import CLOCK_AHEAD_MAX, ahead_of_clock

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_time_within_the_tolerance_is_right() -> None:
    assert ahead_of_clock(NOON + CLOCK_AHEAD_MAX, NOON) is None
    assert ahead_of_clock(NOON - timedelta(days=9), NOON) is None


def test_both_times_and_their_difference_are_named_in_utc() -> None:
    at = (NOON + timedelta(hours=1)).astimezone(timezone(timedelta(hours=5.5)))

    assert ahead_of_clock(at, NOON) == (
        "is in the future: 2026-03-01T13:00:00Z is 3600 s ahead of this service's"
        " clock, 2026-03-01T12:00:00Z; set the clock that is wrong"
    )
