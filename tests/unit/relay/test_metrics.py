"""How old the oldest unpublished event is, whatever the clocks say."""

import time

import pytest

from projections.relay.metrics import RelayMetrics
from tests.support.waiting import until_blocking

DAY_S = 86_400.0


@pytest.fixture
def metrics() -> RelayMetrics:
    return RelayMetrics("relay", "events")


def test_the_lag_is_the_age_of_the_oldest_unpublished_event(
    metrics: RelayMetrics,
) -> None:
    assert metrics.lag_s() == 0.0

    metrics.behind(3, 5, time.time() - DAY_S)
    assert metrics.lag_s() >= DAY_S

    metrics.following(5, 5)
    assert metrics.lag_s() == 0.0


def test_the_lag_grows_while_the_log_is_ahead_of_the_clock(
    metrics: RelayMetrics,
) -> None:
    ahead = time.time() + DAY_S
    metrics.behind(3, 5, ahead)
    until_blocking(lambda: metrics.lag_s() > 0.1, timeout_s=5)

    # Another attempt, with the same event.
    metrics.behind(3, 6, ahead)
    assert metrics.lag_s() > 0.1

    metrics.following(6, 6)
    assert metrics.lag_s() == 0.0
