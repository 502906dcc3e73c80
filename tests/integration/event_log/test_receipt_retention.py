"""How long receipts count, across a change of tables, and when they are deleted.

The log's time is set into the future. From there it advances by microseconds, command
by command.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg import AsyncConnection
from psycopg.errors import LockNotAvailable

from service.database import Pool
from service.event_log import log as module
from service.event_log.append import AlreadyAnsweredError, Receipt
from service.event_log.log import EventLog
from service.event_log.receipt_retention import (
    RETENTION,
    delete_expired,
    keep_deleting_expired,
)
from service.resources import Resources
from service.tasks import end_tasks
from tests.support.event_log.logs import entering, entries, nothing, open_ledger, run
from tests.support.waiting import until

DAY = timedelta(days=1)
TICK = timedelta(microseconds=1)
NOON = datetime(2090, 5, 4, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def deleting_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave it to the test when receipts are deleted."""

    async def forever(_: Pool) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(module, "keep_deleting_expired", forever)


async def keep(log: EventLog, key: str, answer: str = "") -> str:
    """Return the answer that counts for a key, after a command that appends nothing."""
    made = Receipt(key=key.encode(), request=b"r", answer=answer.encode())
    try:
        await run(log, nothing, receipt=lambda _: made)
    except AlreadyAnsweredError as error:
        return error.receipt.answer.decode()
    return answer


async def set_time(owner: AsyncConnection[Any], at: datetime) -> None:
    await owner.execute("UPDATE events.head SET recorded_at = %s", [at])


async def time_of(owner: AsyncConnection[Any], key: str) -> datetime:
    """Return when the receipt of a key that counts was recorded."""
    cursor = await owner.execute(
        "SELECT max(recorded_at) FROM events.valid_receipt WHERE key = %s",
        [key.encode()],
    )
    row = await cursor.fetchone()
    assert row is not None
    found: datetime = row[0]
    return found


async def stored(owner: AsyncConnection[Any]) -> set[str]:
    """Return the keys of all receipts that use space."""
    cursor = await owner.execute(
        "SELECT key FROM events.receipt UNION ALL"
        " SELECT key FROM events.receipt_previous"
    )
    return {bytes(row[0]).decode() for row in await cursor.fetchall()}


async def test_a_key_can_be_used_anew_after_exactly_a_day(
    log: EventLog, owner: AsyncConnection
) -> None:
    await set_time(owner, NOON)
    await keep(log, "k", "first")
    recorded_at = await time_of(owner, "k")

    # The next command is recorded a microsecond after the log's time.
    await set_time(owner, recorded_at + RETENTION - 2 * TICK)
    assert await keep(log, "k", "second") == "first"
    await set_time(owner, recorded_at + RETENTION - TICK)
    assert await keep(log, "k", "third") == "third"

    assert await time_of(owner, "k") == recorded_at + RETENTION
    kept = await log.receipt(b"k")
    assert kept is not None
    assert kept.answer == b"third"


async def test_a_key_is_unique_across_a_change_of_tables(
    log: EventLog, other_log: EventLog, resources: Resources, owner: AsyncConnection
) -> None:
    for number in range(3):
        await set_time(owner, NOON + number * DAY)
        await keep(log, f"k{number}", "before")

        assert await delete_expired(resources.pool)

        assert await keep(other_log, f"k{number}", "after") == "before"
        kept = await log.receipt(f"k{number}".encode())
        assert kept is not None
        assert kept.answer == b"before"


async def test_commands_of_two_processes_have_one_effect_for_each_key_at_a_change(
    log: EventLog, other_log: EventLog, resources: Resources, owner: AsyncConnection
) -> None:
    keys = [f"key {number}" for number in range(60)]
    ledgers = {key: await open_ledger(log, key) for key in keys}
    first_done, changed = asyncio.Event(), asyncio.Event()

    async def enter(each: EventLog, key: str) -> bool:
        made = Receipt(key=key.encode(), request=b"r", answer=b"")
        try:
            await run(each, entering(ledgers[key], key), receipt=lambda _: made)
        except AlreadyAnsweredError:
            return False
        finally:
            first_done.set()
        return True

    async def change_places() -> None:
        await first_done.wait()
        await owner.execute(
            "UPDATE events.receipt_rotation SET rotated_at = rotated_at - %s", [DAY]
        )
        while True:
            try:
                assert await delete_expired(resources.pool)
            except LockNotAvailable:
                continue
            changed.set()
            return

    async def in_turn(each: EventLog) -> list[bool]:
        effects = [await enter(each, key) for key in keys[1:]]
        await changed.wait()
        return [*effects, await enter(each, keys[0])]

    mine, others, _ = await asyncio.gather(
        in_turn(log), in_turn(other_log), change_places()
    )

    assert sum(mine) + sum(others) == len(keys)
    for key, ledger_id in ledgers.items():
        assert await entries(log, ledger_id) == [key]
    cursor = await owner.execute(
        "SELECT count(*) > 0, (SELECT count(*) > 0 FROM events.receipt_previous)"
        "  FROM events.receipt"
    )
    assert await cursor.fetchone() == (True, True), "in both tables"


async def test_a_day_is_deleted_when_all_of_it_has_expired(
    log: EventLog, resources: Resources, owner: AsyncConnection
) -> None:
    await set_time(owner, NOON)
    assert await delete_expired(resources.pool)
    for day in range(3):
        await keep(log, f"first of day {day}")
        await set_time(owner, NOON + (day + 1) * DAY - 9 * TICK)
        await keep(log, f"last of day {day}")
        assert not await delete_expired(resources.pool), "it isn't over"
        await set_time(owner, NOON + (day + 1) * DAY + TICK)
        assert await delete_expired(resources.pool)
        assert not await delete_expired(resources.pool), "a day has just been deleted"

    assert await stored(owner) == {"first of day 2", "last of day 2"}
    assert await keep(log, "last of day 2", "again") == ""


async def test_receipts_that_outlived_their_time_are_harmless(
    log: EventLog, resources: Resources, owner: AsyncConnection
) -> None:
    """As when each attempt had to give way to a backup."""
    for day in range(4):
        await set_time(owner, NOON + day * DAY)
        assert await keep(log, "k", f"{day}") == f"{day}"
        assert await keep(log, "k", "again") == f"{day}"

    assert await delete_expired(resources.pool)
    assert await keep(log, "k", "again") == "3"
    await set_time(owner, NOON + 5 * DAY)
    assert await keep(log, "k", "anew") == "anew"


async def test_deleting_gives_up_where_a_table_is_being_read(
    log: EventLog, resources: Resources, owner: AsyncConnection
) -> None:
    await set_time(owner, NOON)
    await keep(log, "old")
    async with owner.transaction():
        await owner.execute("SELECT FROM events.receipt_previous")
        with pytest.raises(LockNotAvailable):
            await delete_expired(resources.pool)
        assert await keep(log, "new", "meanwhile") == "meanwhile"

    assert await delete_expired(resources.pool)

    assert await keep(log, "new", "again") == "meanwhile"


async def test_a_deletion_that_fails_logs_no_statement(
    log: EventLog,
    resources: Resources,
    owner: AsyncConnection,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await set_time(owner, NOON)
    await keep(log, "old")
    async with owner.transaction():
        await owner.execute("SELECT FROM events.receipt_previous")
        deleting = asyncio.create_task(keep_deleting_expired(resources.pool))
        await until(lambda: "can't delete expired receipts" in caplog.text)
    await end_tasks(deleting)

    assert "lock timeout" in caplog.text
    assert "SQL" not in caplog.text
    assert "events." not in caplog.text
