"""Moves, replicas and lost cells of the model, against results that are known."""

import pytest

from tests.simulation.lost_cell import at_once, concerned, rebuild_s, sizes
from tests.simulation.moves import HISTORY, NEARLY_THERE, move
from tests.simulation.reads import CORES, SECONDS, Reads
from tests.simulation.service_times import BatchTime
from tests.simulation.test_cell import ONCE, TIMES

pytestmark = pytest.mark.slow


def test_a_move_copies_every_event_and_refuses_only_the_last_step() -> None:
    found = move(1, TIMES, 500, 256)

    assert found.copied == found.written > HISTORY
    # What was left to be copied, if anything, and tenant.arrived, each with a commit.
    assert 0.002 < found.refused_s < 2 * 0.002 + NEARLY_THERE * 0.001


def test_a_move_takes_longer_where_events_are_read_slowly() -> None:
    slowly = TIMES.changed(
        rebuild={name: each.times(10) for name, each in TIMES.rebuild.items()}
    )

    assert move(1, slowly, 200, 256).rate < 0.5 * move(1, TIMES, 200, 256).rate


def test_readers_or_their_replica_are_the_ceiling_of_pages() -> None:
    # A page takes 1 ms of a reader, and 0.4 ms of a core of the replica.
    rates = [
        Reads(1, TIMES, readers).closed().answers.rate(SECONDS) for readers in (1, 20)
    ]

    assert rates == pytest.approx([1000, CORES / 0.0004], rel=0.1)


def test_tables_that_share_an_event_loop_are_ready_by_their_length() -> None:
    took = {"users": 3600.0, "agents": 3600, "connectors": 3600, "tool_rules": 3600}

    tools, mean, last = at_once(took | {"gateway": 3600, "sessions": 7200})

    assert (tools, last) == (6, 7)
    assert mean == pytest.approx(37 / 6)


def test_a_rebuild_takes_the_followers_time_for_each_event() -> None:
    step = BatchTime(0.0, 0.0001, ONCE)

    assert rebuild_s(1, TIMES, 1000)["first"] == pytest.approx(2000 * step.each)


def test_a_lost_cell_concerns_its_share_of_the_tenants() -> None:
    ((tenants, most, _share),) = concerned(50_000)

    assert float(tenants.split()[0].replace(",", "")) == 5000
    assert float(most.split()[0].replace(",", "")) >= 5000


def test_bytes_of_a_year_are_those_of_its_turns() -> None:
    cell, _all = sizes(TIMES, 1000)

    # 700 turns a second of 4,000 bytes.
    assert cell[3] == "88.4"
