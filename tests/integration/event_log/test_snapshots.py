"""Snapshots are a shortcut to the same aggregate, and nothing else."""

from uuid import UUID

import pytest
from psycopg import AsyncConnection

from service.event_log.log import EventLog
from service.event_log.snapshots import SNAPSHOT_INTERVAL
from tests.support.event_log.logs import enter, entering, open_ledger, open_log, run
from tests.support.event_log.snapshots import past


async def settled(log: EventLog) -> None:
    await log.snapshots.stop()


async def long_ledger(log: EventLog) -> UUID:
    """Open a ledger, and enter as many notes as there are between two snapshots."""
    ledger_id = await open_ledger(log, "long")
    await run(log, entering(ledger_id, *map(str, range(SNAPSHOT_INTERVAL))))
    await settled(log)
    return ledger_id


async def test_three_hundred_and_fifty_events_load_through_a_snapshot(
    log: EventLog,
) -> None:
    ledger_id = await open_ledger(log, "long")
    for number in range(349):
        await enter(log, ledger_id, str(number))
    await settled(log)

    aggregate, events = await past(log, ledger_id)

    assert events == 50
    assert aggregate.version == 350
    assert aggregate.entries == [str(number) for number in range(349)]


async def test_a_command_that_jumps_over_the_interval_takes_one_too(
    log: EventLog,
) -> None:
    ledger_id = await open_ledger(log, "jump")
    await run(log, entering(ledger_id, *(["x"] * (SNAPSHOT_INTERVAL + 5))))
    await settled(log)

    _, events = await past(log, ledger_id)

    assert events == 0


async def test_loading_a_long_aggregate_leaves_a_snapshot(
    log: EventLog, other_log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await long_ledger(log)
    await owner.execute("DELETE FROM events.snapshot")

    await other_log.load(ledger_id)
    await settled(other_log)

    assert (await past(log, ledger_id))[1] == 0


async def test_a_snapshot_equals_the_full_replay(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await long_ledger(log)
    short, _ = await past(log, ledger_id)
    await owner.execute("DELETE FROM events.snapshot")
    full, events = await past(log, ledger_id)

    assert events == SNAPSHOT_INTERVAL + 1
    assert vars(short) == vars(full)


@pytest.mark.parametrize("state", [b'{"what": "ever"}', b"not even JSON"])
async def test_a_snapshot_of_another_class_version_is_passed_over(
    log: EventLog, owner: AsyncConnection, state: bytes
) -> None:
    ledger_id = await long_ledger(log)
    await owner.execute(
        "UPDATE events.snapshot SET class_version = 2, state = %s", [state]
    )

    aggregate, events = await past(log, ledger_id)

    assert events == SNAPSHOT_INTERVAL + 1
    assert aggregate.entries == [str(n) for n in range(SNAPSHOT_INTERVAL)]


async def test_a_snapshot_of_another_class_version_is_replaced(
    database_url: str, owner: AsyncConnection
) -> None:
    async with open_log(database_url) as log:
        ledger_id = await open_ledger(log, "older")
        await run(log, entering(ledger_id, *map(str, range(SNAPSHOT_INTERVAL))))
    await owner.execute("UPDATE events.snapshot SET class_version = 2")

    async with open_log(database_url) as log:
        await log.load(ledger_id)

    row = await (
        await owner.execute("SELECT class_version FROM events.snapshot")
    ).fetchone()
    assert row == (1,)
