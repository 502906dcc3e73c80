"""A clock that was set is told from one that runs."""

import logging
import time

import pytest

from service.http.clock_jumps import JUMPS, ClockJumps


class SetClock:
    """A wall clock that somebody sets."""

    ahead_s = 0.0

    def __call__(self) -> float:
        return 1_700_000_000 + time.monotonic() + self.ahead_s


def total() -> float:
    (metric,) = JUMPS.collect()
    return next(each.value for each in metric.samples if each.name.endswith("_total"))


@pytest.mark.parametrize(
    ("ahead_s", "told"), [(3600.0, "+3600 s"), (-86_400.0, "-86400 s"), (7.0, "+7 s")]
)
def test_each_jump_is_counted_and_logged_once(
    ahead_s: float, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    clock, before = SetClock(), total()
    jumps = ClockJumps(clock)
    with caplog.at_level(logging.WARNING):
        clock.ahead_s = ahead_s
        jumps.look()
        jumps.look()

    (record,) = caplog.records
    assert f"jumped by {told}" in record.getMessage()
    assert total() == before + 1

    clock.ahead_s = 0.0
    jumps.look()
    assert total() == before + 2


def test_a_clock_that_is_corrected_slowly_does_not_jump(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, before = SetClock(), total()
    jumps = ClockJumps(clock)
    for _ in range(60):
        clock.ahead_s += 1
        jumps.look()

    assert caplog.records == []
    assert total() == before
