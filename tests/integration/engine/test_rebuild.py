"""New tables beside the live ones, and the switch between two reads."""

import asyncio
import logging
from typing import Any

import pytest
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo

from projections.catalog import follower_conninfo
from projections.engine.rebuild import rebuild
from projections.engine.snapshot import snapshot_of
from service.event_log.log import EventLog
from service.event_log.mapper import UnreadableEventError
from tests.integration.engine.line_counts import LineCounts, LineCountsWithFirst
from tests.integration.engine.tables import Engine, lines
from tests.integration.event_log.test_epoch import restore
from tests.support.event_log.ledger import Ledger
from tests.support.event_log.logs import enter, entering, open_ledger, run
from tests.support.log_records import said_by
from tests.support.reading import read_events
from tests.support.waiting import until

REBUILDING = """
    SELECT count(*) FROM pg_stat_activity WHERE application_name = 'rebuilding'
"""
# The lock for which a switch waits, as long as a read runs.
SWITCHING = """
    SELECT count(*) > 0 FROM pg_locks
     WHERE mode = 'AccessExclusiveLock' AND NOT granted
       AND relation = 'read.generation'::regclass
"""
REBUILD = "projections.engine.rebuild"
READS_MIN = 100
ROWS = "SELECT t::text FROM read.line_count t ORDER BY 1"


async def rows(db: AsyncConnection[Any]) -> list[tuple[str]]:
    return await (await db.execute(ROWS)).fetchall()


async def is_switching(db: AsyncConnection[Any], *, waits: bool = True) -> bool:
    """Tell whether a switch waits for reads to end; or that it doesn't just now."""
    row = await (await db.execute(SWITCHING)).fetchone()
    return row == (waits,)


async def test_rebuilt_equals_live_byte_for_byte_and_no_read_sees_half_of_it(
    engine: Engine, other_log: EventLog, caplog: pytest.LogCaptureFixture
) -> None:
    ledgers = [await open_ledger(engine.log, f"{n}") for n in range(6)]
    await asyncio.gather(
        *(run(engine.log, entering(each, *map(str, range(500)))) for each in ledgers)
    )
    stop = False
    seen: list[tuple[int, int]] = []

    async def write(ledger_id: Any, own: EventLog) -> None:
        number = 0
        while not stop:
            number += 1
            await enter(own, ledger_id, f"live {number}")
            await asyncio.sleep(0.002)

    async def read() -> None:
        while not stop:
            async with snapshot_of(engine.pool, "line_counts") as snapshot:
                await asyncio.sleep(0.001)
                cursor = await snapshot.db.execute(
                    "SELECT coalesce(sum(lines), 0) FROM read.line_count"
                )
                row = await cursor.fetchone()
                assert row is not None
                seen.append((snapshot.position, row[0]))

    async with engine.following():
        await engine.caught_up()
        tasks = [
            *(asyncio.create_task(write(each, engine.log)) for each in ledgers[:3]),
            *(asyncio.create_task(write(each, other_log)) for each in ledgers[3:]),
            *(asyncio.create_task(read()) for _ in range(4)),
        ]
        with caplog.at_level(logging.WARNING, "projections.engine.rebuild"):
            for _ in range(6):
                await engine.rebuild()
        await until(lambda: len(seen) > READS_MIN)
        stop = True
        await asyncio.gather(*tasks)
        head = await engine.caught_up()
        live = await rows(engine.owner)
        await engine.rebuild()

    assert not [each for each in caplog.records if "differs" in each.message]
    assert await rows(engine.owner) == live
    entered = [
        each.position
        for each in await read_events(engine.log, after=0, upto=head, limit=head)
        if isinstance(each.event, Ledger.Entered)
    ]
    for position, total in set(seen):
        assert total == sum(each <= position for each in entered), position


async def test_a_log_of_many_batches_is_rebuilt_as_it_was(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("projections.engine.prefetch.BATCH_EVENTS_MAX", 7)
    monkeypatch.setattr("projections.engine.prefetch.SCAN_POSITIONS_MAX", 11)
    monkeypatch.setattr("projections.engine.rebuild.SWITCH_LAG_MAX", 20)
    ledgers = [await open_ledger(engine.log, f"{n}") for n in range(5)]
    for number in range(20):
        for ledger_id in ledgers:
            await enter(engine.log, ledger_id, f"{number}")
    head = await engine.followed()
    live = await rows(engine.owner)

    assert await engine.rebuild() == head

    assert await rows(engine.owner) == live
    assert await engine.lines() == dict.fromkeys(ledgers, 20)


async def test_a_failed_prefetch_ends_the_rebuild_and_closes_its_connection(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("projections.engine.prefetch.BATCH_EVENTS_MAX", 7)
    monkeypatch.setattr("projections.engine.rebuild.SWITCH_LAG_MAX", 0)
    ledger_id = await open_ledger(engine.log, "damaged")
    await enter(engine.log, ledger_id, *(f"{number}" for number in range(40)))
    await engine.followed()
    live = await rows(engine.owner)
    await engine.owner.execute(
        "ALTER TABLE events.stored_event DISABLE TRIGGER append_only"
    )
    await engine.owner.execute(
        "UPDATE events.stored_event SET state = 'x' WHERE notification_id = 30"
    )
    conninfo = make_conninfo(
        follower_conninfo(engine.url), application_name="rebuilding"
    )

    with pytest.raises(UnreadableEventError):
        await rebuild(conninfo, engine.log.mapper, LineCounts())

    assert await rows(engine.owner) == live

    async def is_over() -> bool:
        return await (await engine.owner.execute(REBUILDING)).fetchone() == (0,)

    await until(is_over)


async def test_a_changed_definition_is_rebuilt_at_the_next_start(
    engine: Engine,
) -> None:
    ledger_id = await open_ledger(engine.log, "redefined")
    await engine.followed()

    async with engine.following(LineCountsWithFirst()) as follower:
        await until(lambda: follower.status.state == "following")

    row = await (
        await engine.owner.execute("SELECT ledger_id, newer FROM read.line_count")
    ).fetchone()
    assert row == (ledger_id, 1)


async def test_a_deleted_place_means_to_begin_again(engine: Engine) -> None:
    ledger_id = await open_ledger(engine.log, "again")
    await enter(engine.log, ledger_id, "a", "b")
    await engine.followed()
    await engine.owner.execute("DELETE FROM read.position")

    await engine.followed()

    assert await engine.lines() == {ledger_id: 2}


async def test_a_difference_between_live_and_rebuilt_is_reported(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    ledger_id = await open_ledger(engine.log, "wrong")
    await engine.followed()
    await engine.owner.execute("UPDATE read.line_count SET lines = 7")

    with caplog.at_level(logging.WARNING, REBUILD):
        await engine.rebuild()

    assert [each.message for each in said_by(caplog, REBUILD)] == [
        "the rebuilt table differs from the one before"
    ]
    assert await engine.lines() == {ledger_id: 0}


async def test_two_rebuilds_at_once_follow_each_other(engine: Engine) -> None:
    ledger_id = await open_ledger(engine.log, "twice")
    await enter(engine.log, ledger_id, "x")
    async with engine.following():
        await engine.caught_up()

        reached = await asyncio.gather(*(engine.rebuild() for _ in range(4)))

    assert reached == [2, 2, 2, 2]
    assert await engine.lines() == {ledger_id: 1}


async def test_a_read_that_doesnt_end_keeps_the_old_tables_only_for_its_own_time(
    engine: Engine,
) -> None:
    ledger_id = await open_ledger(engine.log, "long read")
    async with engine.following():
        await engine.caught_up()
        async with snapshot_of(engine.pool, "line_counts") as snapshot:
            switching = asyncio.create_task(engine.rebuild())
            await until(lambda: is_switching(engine.owner))
            await until(lambda: is_switching(engine.owner, waits=False))
            assert not switching.done()
            # Others are not kept waiting behind the switch for long.
            async with (
                asyncio.timeout(60),
                snapshot_of(engine.pool, "line_counts") as other,
            ):
                assert await lines(other.db) == {ledger_id: 0}
            assert await lines(snapshot.db) == {ledger_id: 0}

        assert await switching == 1


async def test_a_rebuild_that_fails_leaves_the_live_tables(engine: Engine) -> None:
    ledger_id = await open_ledger(engine.log, "kept")
    await enter(engine.log, ledger_id, "poison")
    async with engine.following():
        await engine.caught_up()
        broken = LineCounts()
        broken.poison = "poison"

        with pytest.raises(ValueError, match="poison"):
            await engine.rebuild(broken)

        await enter(engine.log, ledger_id, "y")
        await engine.caught_up()
    assert await engine.lines() == {ledger_id: 2}
    assert await engine.rebuild() == 3


async def test_a_new_epoch_is_followed_from_its_beginning(engine: Engine) -> None:
    """Restored to an earlier position: nothing that comes after may be passed over."""
    ledger_id = await open_ledger(engine.log, "restored")
    for note in "abcdef":
        await enter(engine.log, ledger_id, note)
    async with engine.following() as follower:
        await engine.caught_up()
        await restore(engine.owner, 3)
        await until(lambda: follower.status.position == 3)
        assert await engine.lines() == {ledger_id: 2}

        await enter(engine.log, ledger_id, "new")
        assert await engine.caught_up() == 4

    assert await engine.lines() == {ledger_id: 3}


async def test_a_log_that_is_shorter_in_the_same_epoch_stops_the_follower(
    engine: Engine,
) -> None:
    ledger_id = await open_ledger(engine.log, "careless restore")
    await enter(engine.log, ledger_id, "lost")
    async with engine.following() as follower:
        await engine.caught_up()
        await engine.owner.execute("UPDATE events.head SET position = 1")

        await until(lambda: follower.status.state == "stopped")
        assert await engine.reason() == follower.status.reason
        assert await engine.place() == (2, follower.status.reason)
    assert "the log ends at 1" in str(follower.status.reason)
