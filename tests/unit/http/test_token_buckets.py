"""Bursts, intervals, and the bounded table of a rate limit."""

from service.http.rate_limit import Buckets, RateLimit
from tests.support.clock import Clock


def test_a_burst_passes_and_then_one_each_interval() -> None:
    clock = Clock()
    buckets = Buckets(RateLimit(burst=3, interval_s=10), clock=clock)
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 10]

    clock.now += 4
    assert buckets.take("a") == 6

    clock.now += 6
    assert [buckets.take("a"), buckets.take("a")] == [0, 10]

    clock.now += 1000
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 10]


def test_keys_do_not_take_from_each_other() -> None:
    buckets = Buckets(RateLimit(burst=1, interval_s=10), clock=Clock())

    assert [buckets.take("a"), buckets.take("b")] == [0, 0]
    assert [buckets.take("a"), buckets.take("b")] == [10, 10]


def test_the_table_is_bounded_and_forgets_the_longest_untouched() -> None:
    buckets = Buckets(RateLimit(burst=1, interval_s=10), keys_max=2, clock=Clock())

    for key in ("a", "b", "c"):
        buckets.take(key)

    assert len(buckets) == 2
    assert [buckets.take("c"), buckets.take("a")] == [10, 0]
