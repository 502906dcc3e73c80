"""The short form: each fault once, on real processes, with everything checked."""

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from random import Random

import psycopg
import pytest

from tests.instruments.faults import clock, disk, kafka, network, postgres, processes
from tests.instruments.faults.run import Strike, check, running
from tests.instruments.faults.stage import Cast, Stage, set_up
from tests.instruments.faults.tools import (
    MissingToolError,
    go_without,
    libfaketime,
    require,
)
from tests.support.kafka.broker import Broker

pytestmark = [pytest.mark.faults, pytest.mark.timeout(1200)]

PAUSE_S = 0.04
COMMAND_TIMES = """
    SELECT max(at) - min(at)
      FROM (SELECT (convert_from(state, 'UTF8')::json #>> '{timestamp,_data_}')
                   ::timestamptz AS at
              FROM events.stored_event) AS times
"""
FAULTS: list[Strike] = [
    postgres.killed,
    postgres.backend_killed,
    network.commits_lost,
    network.commit_stalled,
    network.database_away,
    network.half_open,
    processes.api_killed,
    processes.api_paused,
    processes.followers_killed,
    processes.followers_replaced_while_paused,
    processes.no_file_descriptors,
    processes.rolling_restart,
    processes.everything_killed,
]
FAULTS_OF_KAFKA: list[Strike] = [
    processes.relay_killed,
    kafka.broker_paused,
    processes.relay_replaced_while_paused,
    kafka.broker_killed,
]


async def test_nothing_is_lost_doubled_or_let_through() -> None:
    async with set_up(Cast()) as stage:
        async with running(stage, seed=1, pause_s=PAUSE_S) as run:
            for fault in FAULTS:
                await run.strike(fault)
        findings = await check(run)

    assert findings == []
    assert run.load.acknowledged > 500
    assert run.load.counts["unknown"] < run.load.acknowledged / 10


@pytest.mark.kafka
async def test_the_topic_is_the_log_whatever_happens_to_relays_and_kafka(
    frail_broker: Broker,
) -> None:
    cast = Cast(apis=1, followers=0, relays=2)
    async with set_up(cast, broker=frail_broker) as stage:
        async with running(stage, seed=2, pause_s=PAUSE_S) as run:
            for fault in FAULTS_OF_KAFKA:
                await run.strike(fault)
        findings = await check(run)

    assert findings == []


async def test_a_clock_that_jumps_changes_no_order() -> None:
    try:
        libfaketime()
    except MissingToolError as missing:
        go_without(missing)
    cast = Cast(apis=2, followers=0, with_clock=True)
    async with set_up(cast) as stage:
        async with running(stage, seed=3, pause_s=PAUSE_S) as run:
            await run.strike(clock.clock_jumps)
        findings = await check(run)
        with psycopg.connect(stage.url) as db:
            row = db.execute(COMMAND_TIMES).fetchone()

    assert findings == []
    assert row is not None
    assert row[0] > timedelta(minutes=50), "the clock has not jumped"


@pytest.fixture
def disks(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """Two small disks: for the database's files, and for its write-ahead log."""
    with ExitStack() as held:
        try:
            require("strace")
            data = held.enter_context(disk.small_disk(tmp_path / "data", megabytes=400))
            wal = held.enter_context(disk.small_disk(tmp_path / "wal", megabytes=200))
        except MissingToolError as missing:
            go_without(missing)
        yield data, wal


async def test_the_service_recovers_by_itself_from_a_full_or_failing_disk(
    disks: tuple[Path, Path],
) -> None:
    data, wal = disks

    async def data_full(stage: Stage, random: Random) -> None:
        await disk.full(stage, random, data)

    async def wal_full(stage: Stage, random: Random) -> None:
        await disk.full_of_wal(stage, random, wal)

    disk.move_wal(data / "data", wal)
    cast = Cast(apis=1, followers=1, data=data / "data")
    async with set_up(cast) as stage:
        async with running(stage, seed=4, pause_s=PAUSE_S) as run:
            for fault in (data_full, disk.fsync_fails, wal_full):
                await run.strike(fault)
        findings = await check(run)
        log = (stage.data / "postgres" / "postgres.log").read_text(errors="replace")

    assert findings == []
    assert "could not extend file" in log, "the disk of the data wasn't full"
    assert "PANIC:  could not write to file" in log, "that of the WAL wasn't full"
    assert "could not fsync" in log or "could not fdatasync" in log
