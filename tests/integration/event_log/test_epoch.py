"""The log is restored to an earlier state under a running process."""

import asyncio
from uuid import UUID, uuid4

import pytest
from psycopg import AsyncConnection

from service.event_log.log import EventLog
from service.event_log.snapshots import SNAPSHOT_INTERVAL
from service.resources import Resources
from tests.support.callers import Callers
from tests.support.event_log.cutting import cut
from tests.support.event_log.ledger import Ledger
from tests.support.event_log.logs import (
    enter,
    entering,
    entries,
    loaded,
    open_ledger,
    run,
)
from tests.support.waiting import until


async def restore(owner: AsyncConnection, position: int) -> None:
    """Put the log back to a position, as a backup of that time would."""
    async with owner.transaction():
        await cut(owner, position)
        await owner.execute("UPDATE events.head SET epoch = gen_random_uuid()")


async def test_a_command_decided_before_the_restore_is_decided_again(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "restored")
    await enter(log, ledger_id, "lost")
    await restore(owner, 1)

    await enter(log, ledger_id, "new")

    assert await entries(log, ledger_id) == ["new"]
    assert (await loaded(log, ledger_id)).entries == ["new"]


async def test_equal_versions_of_another_epoch_are_not_taken_for_the_same(
    log: EventLog, other_log: EventLog, owner: AsyncConnection
) -> None:
    """The cache has version 2 of a ledger whose version 2 is another event now."""
    ledger_id = await open_ledger(log, "restored")
    await enter(log, ledger_id, "lost")
    await restore(owner, 1)
    await enter(other_log, ledger_id, "other")

    await enter(log, ledger_id, "next")

    assert (await loaded(log, ledger_id)).entries == ["other", "next"]


async def test_a_process_that_only_reads_notices_too(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "restored")
    await enter(log, ledger_id, "lost")
    before = log.epoch
    await restore(owner, 1)

    await until(lambda: log.epoch != before)

    assert (await loaded(log, ledger_id)).entries == []


async def test_a_cache_notices_a_log_that_was_cut_in_the_same_epoch(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "cut")
    await enter(log, ledger_id, "lost")
    await cut(owner, 1)

    async def is_forgotten() -> bool:
        loaded = await log.load(ledger_id)
        return isinstance(loaded, Ledger) and loaded.entries == []

    await until(is_forgotten)


async def test_a_cache_notices_a_log_that_was_cut_and_has_grown_again(
    log: EventLog, other_log: EventLog, owner: AsyncConnection
) -> None:
    """The cache has version 2 of a ledger whose version 2 is another event now."""
    ledger_id = await open_ledger(log, "cut")
    await enter(log, ledger_id, "lost")
    await cut(owner, 1)
    await enter(other_log, ledger_id, "other")

    async def is_read_again() -> bool:
        loaded = await log.load(ledger_id)
        return isinstance(loaded, Ledger) and loaded.entries == ["other"]

    await until(is_read_again)


async def test_a_snapshot_of_events_that_were_cut_is_not_read(
    log: EventLog, other_log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "cut")
    await run(log, entering(ledger_id, *(["lost"] * SNAPSHOT_INTERVAL)))
    async with asyncio.timeout(60):
        await log.snapshots.stop()
    await cut(owner, 1)
    await run(other_log, entering(ledger_id, *(["other"] * SNAPSHOT_INTERVAL)))
    other_log.cache.clear()

    assert (await loaded(other_log, ledger_id)).entries == ["other"] * SNAPSHOT_INTERVAL


async def test_a_batch_across_the_restore_is_decided_again_as_a_whole(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_ids = [await open_ledger(log, f"{n}") for n in range(10)]
    await asyncio.gather(*(enter(log, each, "lost") for each in ledger_ids))
    await restore(owner, 10)

    await asyncio.gather(*(enter(log, each, "new") for each in ledger_ids))

    for ledger_id in ledger_ids:
        assert await entries(log, ledger_id) == ["new"]


async def test_answers_name_the_epoch_of_their_position(
    callers: Callers, resources: Resources
) -> None:
    ann = await callers.user("ann")
    made = await ann.post(
        "/api/mcp/connectors",
        {"name": "a", "url": "https://tools.example/mcp", "description": ""},
    )
    listed = await ann.get(
        "/api/mcp/connectors", X_Min_Position=made.headers["X-Event-Position"]
    )

    assert UUID(made.headers["X-Log-Epoch"]) == resources.log.epoch
    assert listed.headers["X-Log-Epoch"] == made.headers["X-Log-Epoch"]
    again = await ann.get(
        "/api/mcp/connectors",
        X_Min_Position=made.headers["X-Event-Position"],
        X_Log_Epoch=made.headers["X-Log-Epoch"],
    )
    assert again.status == 200


async def test_a_position_of_another_log_is_refused(callers: Callers) -> None:
    ann = await callers.user("ann")

    refused = await ann.get(
        "/api/mcp/connectors", X_Min_Position="1", X_Log_Epoch=str(uuid4())
    )

    assert refused.status == 409
    assert refused.code == "log_epoch_changed"
    assert "X-Log-Epoch" in refused.headers


async def test_an_epoch_that_is_none_is_malformed(callers: Callers) -> None:
    ann = await callers.user("ann")

    refused = await ann.get("/api/mcp/connectors", X_Log_Epoch="yesterday")

    assert refused.status == 400


async def test_a_new_epoch_keeps_the_read_tables_that_the_log_still_has(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "kept")
    await enter(log, ledger_id, "lost")
    await owner.execute("""
        INSERT INTO read.position (follower, position, epoch, definition, command_id)
        SELECT 'at ' || e.notification_id, e.notification_id, h.epoch, '', e.command_id
          FROM events.stored_event e, events.head h
    """)
    await cut(owner, 1)

    await owner.execute("SELECT events.begin_epoch()")

    kept = await owner.execute("""
        SELECT p.follower FROM read.position p JOIN events.head h USING (epoch)
    """)
    assert await kept.fetchall() == [("at 1",)]


@pytest.mark.parametrize("is_second", [False, True], ids=["first", "second"])
async def test_a_server_that_was_put_back_and_was_known_before_gets_a_new_epoch(
    log: EventLog, owner: AsyncConnection, *, is_second: bool
) -> None:
    """Of two recoveries from one backup, both can be the same timeline."""
    ledger_id = await open_ledger(log, "restored")
    await enter(log, ledger_id, "lost")
    first = log.epoch
    if is_second:
        await owner.execute("SELECT events.begin_epoch()")
        await until(lambda: log.epoch != first and log.durable.position(log.epoch) == 2)
    known = {first, log.epoch}

    async with owner.transaction():
        await cut(owner, 1)
        await owner.execute("DELETE FROM events.epoch_change")
        await owner.execute(
            "UPDATE events.head SET server = 'backup/00000001', epoch = %s", [first]
        )
    await until(lambda: log.epoch not in known)

    assert await enter(log, ledger_id, "new") == 2
    changes = "SELECT old_epoch, position FROM events.epoch_change WHERE epoch = %s"
    changed = await owner.execute(changes, [log.epoch])
    assert await changed.fetchall() == [(first, 1)]
