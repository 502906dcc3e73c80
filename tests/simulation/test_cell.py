"""Cells, their clients and followers, against results that are known."""

from math import inf
from random import Random

import pytest
from simpy import Environment

from tests.simulation.cell import Cell, ceiling, follower_ceiling, many
from tests.simulation.measured import ServiceTimes
from tests.simulation.questions import cells
from tests.simulation.service_times import BatchTime, FollowerTime, Spread
from tests.simulation.storm import ADMITTED, FAIL_OVER_S, LOAD, PAUSES, storm

pytestmark = pytest.mark.slow

ONCE = Spread.constant(1.0)
STEP = BatchTime(0.0, 0.0001, ONCE)
TIMES = ServiceTimes(
    command=BatchTime(0.0, 0.0001, ONCE),
    append=BatchTime(0.0, 0.00005, ONCE),
    commit=Spread.constant(0.002),
    http={"rules": Spread.constant(0.0001), "turn": Spread.constant(0.0004)},
    followers={
        name: FollowerTime(cpu=STEP, database=STEP) for name in ("first", "second")
    },
    rebuild={"first": Spread.constant(0.0001), "sessions": Spread.constant(0.0001)},
    page={"api": Spread.constant(5.0), "database": Spread.constant(2.0)},
    bytes_of_turn={"log": 3000, "read tables": 1000, "WAL": 6000},
)


def test_the_core_of_a_process_is_the_ceiling_of_requests_that_take_long() -> None:
    rates = [
        ceiling(1, TIMES, writers=writers, request="turn").rate for writers in (1, 2)
    ]

    # Less what it waits for the batch that has all of the callers.
    assert rates == pytest.approx([1750, 3500], rel=0.1)


def test_the_lock_is_the_ceiling_of_long_commits() -> None:
    cells = [
        ceiling(1, TIMES.with_commits_of(0.1), writers=writers, seconds=4)
        for writers in (1, 2)
    ]

    assert [cell.rate for cell in cells] == pytest.approx([600, 600], rel=0.1)
    assert cells[1].busy()["lock"] > 0.9


def test_followers_of_a_process_share_its_core() -> None:
    assert follower_ceiling(1, TIMES, ["first"]) == pytest.approx(5000, rel=0.01)
    assert follower_ceiling(1, TIMES) < 5000
    assert follower_ceiling(1, TIMES, ["first"] * 4) == pytest.approx(2500, rel=0.1)


def test_cells_that_share_a_router_notice_it() -> None:
    one = many(1, TIMES, 1, 2)

    assert many(1, TIMES, 8, 0.5) == pytest.approx(8 * one, rel=0.05)
    assert many(1, TIMES, 8, 0.5, router_s=0.001) == pytest.approx(1000, rel=0.05)


def test_a_load_is_answered_at_its_rate() -> None:
    cell = Cell(Environment(), 1, TIMES)
    cell.load(500)
    cell.env.run(until=5)

    assert cell.rate == pytest.approx(500, rel=0.1)


def test_a_proxy_that_admits_few_requests_ends_a_storm() -> None:
    after_1_s = list(PAUSES.values())[1]
    all_admitted = storm(1, TIMES, after_1_s)
    few_admitted = storm(1, TIMES, after_1_s, ADMITTED)

    assert all_admitted.answered < all_admitted.commands
    assert few_admitted.answered == few_admitted.commands
    # What came meanwhile takes so long at least.
    assert few_admitted.last_s > FAIL_OVER_S * LOAD


def test_a_spread_can_be_stretched() -> None:
    commits = TIMES.changed(commit=Spread((0.001, 0.003))).with_commits_of(0.01).commit

    assert commits.mean == pytest.approx(0.01)
    assert commits.draw(Random(1)) in (0.005, 0.015)


def test_the_largest_tenant_decides_whether_cells_are_large_enough() -> None:
    few, more = cells(5000, 0.01), cells(2500, 0.01)

    # 50,000 turns a second, no cell over 70 % full.
    assert min(few) >= 50_000 / (0.7 * 5000)
    assert max(few) < 1.2 * 50_000 / (0.7 * 5000) < min(more)
    assert set(cells(3000, 0.05)) == {inf}
