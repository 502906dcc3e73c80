"""Snapshots on the way: past states are near to one, at a bounded cost in bytes."""

import asyncio
from uuid import uuid4

import psycopg
import pytest
from eventsourcing.domain import Snapshot
from psycopg import AsyncConnection

from service.event_log.log import EventLog
from service.event_log.snapshots import SNAPSHOT_INTERVAL, store_snapshot
from tests.support.event_log.cutting import cut
from tests.support.event_log.ledger import Ledger
from tests.support.event_log.logs import (
    entering,
    open_ledger,
    run,
    until_somebody_waits,
)
from tests.support.event_log.snapshots import (
    annotated,
    command_of,
    expect_paid,
    kept,
    ledger_of,
    look_back,
    past,
    versions,
)

# A snapshot of so large notes isn't paid for by fewer than four events.
LARGE = "x" * 10_000


async def test_a_past_state_takes_fewer_than_a_hundred_events_and_is_the_full_replay(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await ledger_of(log, 350)
    around = [1, 2, *range(98, 103), *range(198, 203), 250, *range(298, 303), 349, 350]

    short = {version: await past(log, ledger_id, version) for version in around}

    assert await versions(owner, ledger_id) == [100, 200, 300]
    await owner.execute("DELETE FROM events.snapshot")
    for version, (ledger, events) in short.items():
        full, all_events = await past(log, ledger_id, version)
        assert vars(ledger) == vars(full)
        assert (all_events, events) == (version, version % SNAPSHOT_INTERVAL)


async def test_snapshots_take_at_most_a_quarter_of_the_bytes_of_events(
    log: EventLog, owner: AsyncConnection
) -> None:
    """The state of this ledger grows with its history."""
    ledger_id = await open_ledger(log, "growing")
    for number in range(15):
        await run(log, entering(ledger_id, *(["n" * 15] * SNAPSHOT_INTERVAL)))
        await log.snapshots.stop()
        assert (await versions(owner, ledger_id))[-1] == 100 * (number + 1) + 1
        await expect_paid(owner, ledger_id)

    on_the_way = await kept(owner, ledger_id)
    assert 2 <= len(on_the_way) < 10


async def test_of_a_state_as_large_as_its_events_only_the_newest_snapshot_stays(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "large")
    for _ in range(4):
        await run(log, entering(ledger_id, *(["n" * 500] * SNAPSHOT_INTERVAL)))
        await log.snapshots.stop()

    assert await versions(owner, ledger_id) == [401]


async def test_a_past_state_that_was_far_leaves_a_snapshot(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await ledger_of(log, 350)
    await owner.execute("DELETE FROM events.snapshot WHERE originator_version < 300")

    await look_back(log, ledger_id, 99)
    await look_back(log, ledger_id, 150)

    assert await versions(owner, ledger_id) == [150, 300]
    ledger, events = await past(log, ledger_id, 160)
    assert (events, ledger.version, ledger.notes["version"]) == (10, 160, 160)


async def test_a_past_state_that_a_command_asks_for_leaves_one_too(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await ledger_of(log, 250)
    await owner.execute("DELETE FROM events.snapshot")

    ledger, position = await log.load_past(ledger_id, 180)
    await log.snapshots.stop()

    assert isinstance(ledger, Ledger)
    assert (ledger.version, position) == (180, 180)
    assert await versions(owner, ledger_id) == [180]


async def test_one_that_isnt_paid_for_is_not_left_nor_tried_to_store(
    log: EventLog, owner: AsyncConnection, caplog: pytest.LogCaptureFixture
) -> None:
    ledger_id = await open_ledger(log, "large")
    await run(log, entering(ledger_id, *(["n" * 500] * 300)))
    await log.snapshots.stop()
    await owner.execute("REVOKE INSERT ON events.snapshot FROM agent_runtime_service")

    await look_back(log, ledger_id, 200)

    assert await versions(owner, ledger_id) == [301]
    assert "can't store a snapshot" not in caplog.text


async def test_of_the_newest_state_one_is_left_whatever_its_size(
    log: EventLog, other_log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "large")
    await run(log, entering(ledger_id, *(["n" * 500] * 300)))
    await log.snapshots.stop()
    await owner.execute("DELETE FROM events.snapshot")

    await other_log.load(ledger_id)
    await other_log.snapshots.stop()

    assert await versions(owner, ledger_id) == [301]


async def test_one_after_which_the_next_wouldnt_be_paid_for_is_not_left(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await ledger_of(log, 400, LARGE)
    await owner.execute("DELETE FROM events.snapshot WHERE originator_version = 200")

    await look_back(log, ledger_id, 299)
    assert await versions(owner, ledger_id) == [100, 300, 400]
    await look_back(log, ledger_id, 250)

    assert await versions(owner, ledger_id) == [100, 250, 300, 400]
    await expect_paid(owner, ledger_id)


async def test_the_newest_goes_with_the_next_if_another_was_left_shortly_before(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await ledger_of(log, 200, LARGE)
    await owner.execute("DELETE FROM events.snapshot WHERE originator_version = 100")
    await look_back(log, ledger_id, 199)
    assert await versions(owner, ledger_id) == [199, 200]

    for _ in range(SNAPSHOT_INTERVAL):
        await annotated(log, ledger_id, LARGE)

    assert await versions(owner, ledger_id) == [199, 300]
    await expect_paid(owner, ledger_id)


async def test_the_first_of_another_class_version_replaces_all_others(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await ledger_of(log, 320)
    await owner.execute("UPDATE events.snapshot SET class_version = 2")
    assert (await past(log, ledger_id, 250))[1] == 250

    await look_back(log, ledger_id, 250)

    assert await versions(owner, ledger_id) == [250]
    assert (await past(log, ledger_id))[1] == 70


async def test_behind_a_damaged_one_the_one_before_is_read(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await ledger_of(log, 320)
    await owner.execute(
        "UPDATE events.snapshot SET state = 'no JSON' WHERE originator_version > 100"
    )

    ledger, events = await past(log, ledger_id, 310)

    assert (events, ledger.version) == (210, 310)
    await look_back(log, ledger_id, 300)
    assert (await past(log, ledger_id, 310))[1] == 10


async def test_snapshots_of_events_that_were_cut_are_neither_read_nor_kept(
    log: EventLog, other_log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await ledger_of(log, 350, "lost")
    await cut(owner, 150)
    assert (await past(other_log, ledger_id))[0].version == 150
    # None of the lost ones is deleted yet.
    await owner.execute("REVOKE INSERT ON events.snapshot FROM agent_runtime_service")
    for _ in range(100):
        await annotated(other_log, ledger_id, "other")
    assert await versions(owner, ledger_id) == [100, 200, 300]

    ledger, events = await past(other_log, ledger_id, 240)

    assert (events, ledger.notes) == (140, {"n": "other", "version": 240})
    assert (await past(other_log, ledger_id, 150))[0].notes["n"] == "lost"
    await owner.execute("GRANT INSERT ON events.snapshot TO agent_runtime_service")
    await look_back(other_log, ledger_id, 230)
    assert await versions(owner, ledger_id) == [100, 230]


async def test_a_state_of_other_events_is_not_stored(
    log: EventLog, owner: AsyncConnection
) -> None:
    """A read replica may have a log that the primary doesn't continue."""
    ledger_id = await ledger_of(log, 150)
    ledger, _ = await past(log, ledger_id)

    log.snapshots.take(ledger, uuid4())
    await log.snapshots.stop()

    assert await versions(owner, ledger_id) == [100]


async def test_two_processes_keep_together_what_one_would(
    log: EventLog, other_log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await ledger_of(log, 400, LARGE)
    await owner.execute("DELETE FROM events.snapshot WHERE originator_version < 400")
    earlier, _ = await past(log, ledger_id, 200)
    command_id = await command_of(owner, ledger_id, 200)

    async with (
        log._pool.connection() as db,  # noqa: SLF001 # as the log stores it
        asyncio.timeout(60),
    ):
        async with db.transaction():
            stored = log.mapper.to_stored_event(Snapshot.take(earlier))
            await store_snapshot(db, stored, Ledger, command_id)
            another = asyncio.create_task(look_back(other_log, ledger_id, 202))
            await until_somebody_waits(owner)
        await another

    assert await versions(owner, ledger_id) == [200, 400]


async def test_the_same_one_from_many_at_once_is_stored_once(
    log: EventLog, other_log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await ledger_of(log, 350)
    await owner.execute("DELETE FROM events.snapshot WHERE originator_version < 300")

    await asyncio.gather(
        *(look_back(each, ledger_id, 200) for each in (log, other_log) * 3)
    )

    assert await versions(owner, ledger_id) == [200, 300]


async def test_reads_go_on_where_none_can_be_stored_and_one_line_says_so(
    log: EventLog, owner: AsyncConnection, caplog: pytest.LogCaptureFixture
) -> None:
    ledger_id = await ledger_of(log, 350)
    await owner.execute("DELETE FROM events.snapshot WHERE originator_version < 300")
    said = "can't store a snapshot"
    await owner.execute("REVOKE INSERT ON events.snapshot FROM agent_runtime_service")

    for version in (200, 250, 200):
        await look_back(log, ledger_id, version)
    assert caplog.text.count(said) == 1

    await owner.execute("GRANT INSERT ON events.snapshot TO agent_runtime_service")
    await look_back(log, ledger_id, 200)
    assert await versions(owner, ledger_id) == [200, 300]
    await owner.execute("REVOKE INSERT ON events.snapshot FROM agent_runtime_service")
    await look_back(log, ledger_id, 199)
    assert caplog.text.count(said) == 2


async def test_a_process_of_the_version_before_fails_and_says_so(
    log: EventLog, owner: AsyncConnection
) -> None:
    """It warns of this error as of any other of the database, and goes on."""
    ledger_id = await ledger_of(log, 101)

    with pytest.raises(psycopg.errors.InvalidColumnReference, match="ON CONFLICT"):
        await owner.execute(
            "INSERT INTO events.snapshot SELECT * FROM events.snapshot"
            " ON CONFLICT (originator_id) DO NOTHING"
        )

    assert await versions(owner, ledger_id) == [100]
