"""One follower, and what may happen to it."""

from typing import Any

import pytest
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from projections.catalog import follower_conninfo
from projections.engine.follower import Follower
from projections.engine.follower_position import FollowerPosition, ReplacedError
from service.event_log.log import EventLog
from tests.integration.engine.conftest import RunFollower
from tests.integration.engine.line_counts import LineCounts, OtherLineCounts
from tests.integration.engine.tables import caught_up, lines, place, reason
from tests.support.event_log.cutting import cut
from tests.support.event_log.logs import enter, entering, open_ledger, run
from tests.support.reading import read_events
from tests.support.waiting import until


async def test_it_applies_what_is_there_and_what_comes(
    log: EventLog,
    pool: AsyncConnectionPool,
    owner: AsyncConnection,
    run_follower: RunFollower,
) -> None:
    before = await open_ledger(log, "before")
    await run(log, entering(before, *map(str, range(2500))))
    projector = LineCounts()

    async with run_follower(projector) as follower:
        await caught_up(log, pool)
        after = await open_ledger(log, "after")
        await enter(log, after, "x")
        head = await caught_up(log, pool)
        await until(lambda: follower.status.position == head)

    assert await lines(owner) == {before: 2500, after: 1}
    assert projector.batches[:3] == [1000, 1000, 501]
    assert follower.status.state == "following"


async def test_it_passes_over_events_of_others(
    log: EventLog, pool: AsyncConnectionPool, run_follower: RunFollower
) -> None:
    """The position is the last one looked at, not the last one that matched."""
    ledger_id = await open_ledger(log, "noted")

    async def annotate(work: Any) -> None:
        from tests.support.event_log.ledger import Ledger

        ledger = await work.load(Ledger, ledger_id)
        ledger.annotate(notes={})
        work.save(ledger)

    async with run_follower(LineCounts()):
        await run(log, annotate)

        assert await caught_up(log, pool) == 2


async def test_rows_and_position_are_saved_together_or_not_at_all(
    log: EventLog,
    pool: AsyncConnectionPool,
    owner: AsyncConnection,
    run_follower: RunFollower,
) -> None:
    """Its connection is killed between its writes and its commit."""
    ledger_id = await open_ledger(log, "killed")
    projector = LineCounts()
    kills = 0

    async def kill(db: AsyncConnection[Any]) -> None:
        nonlocal kills
        if kills < 3:
            kills += 1
            await owner.execute(
                "SELECT pg_terminate_backend(%s, 5000)", [db.info.backend_pid]
            )

    projector.before_return = kill
    async with run_follower(projector):
        await enter(log, ledger_id, "once")
        await caught_up(log, pool)

    assert kills == 3
    assert await lines(owner) == {ledger_id: 1}


async def test_one_of_two_is_active_and_the_other_takes_over(
    log: EventLog,
    other_log: EventLog,
    pool: AsyncConnectionPool,
    owner: AsyncConnection,
    run_follower: RunFollower,
) -> None:
    ledger_id = await open_ledger(log, "handed over")
    async with run_follower(LineCounts(), other_log) as second:
        async with run_follower(LineCounts()) as first:
            await until(
                lambda: (
                    {first.status.state, second.status.state}
                    == {"following", "standby"}
                )
            )
            leader = first if first.status.state == "following" else second
            await enter(log, ledger_id, "by the first")
            await caught_up(log, pool)
            pid = await (
                await owner.execute(
                    "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"
                    " AND database = (SELECT oid FROM pg_database"
                    " WHERE datname = current_database())"
                )
            ).fetchone()
            assert pid is not None
            await owner.execute("SELECT pg_terminate_backend(%s)", pid)
            await enter(log, ledger_id, "by either")
            await caught_up(log, pool)
            assert leader.status.position >= 2
        await enter(log, ledger_id, "by the second")
        await caught_up(log, pool)
        await until(lambda: second.status.state == "following")

    assert await lines(owner) == {ledger_id: 3}


async def test_a_log_that_was_cut_and_has_grown_again_stops_it(
    log: EventLog, owner: AsyncConnection, run_follower: RunFollower
) -> None:
    """In the same epoch, so that only the events tell both logs apart."""
    ledger_id = await open_ledger(log, "cut")
    await run(log, entering(ledger_id, "a", "b", "c"))
    async with run_follower(LineCounts()) as follower:
        await until(lambda: follower.status.position == 4)
        await cut(owner, 1)
        await run(log, entering(ledger_id, "d", "e", "f", "g", "h"))

        async def stopped_by_another_event() -> bool:
            # It may look before the log has grown again, and then after it.
            return await reason(owner) == (
                "the log has another event at 4 than the one applied: LogRewrittenError"
            )

        await until(stopped_by_another_event)
        assert await lines(owner) == {ledger_id: 3}
    async with run_follower(LineCounts()) as follower:
        # It notices after a restart, too, and starts over in a new epoch.
        await until(lambda: follower.status.state == "stopped")
        await owner.execute("UPDATE events.head SET epoch = gen_random_uuid()")
        await until(lambda: follower.status.state == "following")
        assert await lines(owner) == {ledger_id: 5}


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE read.position SET position = position + 1",
        "UPDATE read.position SET epoch = gen_random_uuid()",
        "UPDATE read.position SET definition = 'of a newer version'",
    ],
)
async def test_one_that_was_replaced_cant_write_any_more(
    log: EventLog,
    pool: AsyncConnectionPool,
    owner: AsyncConnection,
    run_follower: RunFollower,
    database_url: str,
    change: str,
) -> None:
    projector = LineCounts()
    async with run_follower(projector):
        ledger_id = await open_ledger(log, "fenced")
        position = await caught_up(log, pool)
    await enter(log, ledger_id, "late")
    late = await read_events(log, after=position, upto=position + 1, limit=1)
    await owner.execute(change)
    paused = Follower(projector, log, database_url)

    async with await AsyncConnection.connect(
        follower_conninfo(database_url), autocommit=True
    ) as db:
        await db.execute("SET search_path = read")
        place = FollowerPosition.of(projector, log.epoch)
        with pytest.raises(ReplacedError):
            await paused._apply(db, place, late, position, position + 1)  # noqa: SLF001 # between two of its steps

    assert await lines(owner) == {ledger_id: 0}


async def test_an_event_that_cant_be_applied_stops_that_follower_alone(
    log: EventLog,
    pool: AsyncConnectionPool,
    owner: AsyncConnection,
    run_follower: RunFollower,
) -> None:
    ledger_id = await open_ledger(log, "poisoned")
    await run(log, entering(ledger_id, *"abcdefgh", "poison", *"ijkl"))
    projector = LineCounts()
    projector.poison = "poison"
    async with run_follower(projector) as follower, run_follower(OtherLineCounts()):
        await until(lambda: follower.status.state == "stopped")
        await caught_up(log, pool, "other_line_counts")
        await reason(owner)

        assert await lines(owner) == {ledger_id: 8}
        found = await place(owner)
        assert found is not None
        assert found[0] == follower.status.position == 9
        assert found[1] == follower.status.reason
        assert "'test.ledger_entered' at position 10: ValueError" in str(found[1])
        assert (await place(owner, "other_line_counts")) == (14, None)

        projector.poison = None
        await caught_up(log, pool)
        await until(lambda: follower.status.state == "following")

    assert await lines(owner) == {ledger_id: 13}
    assert await place(owner) == (14, None)
    assert follower.status.reason is None


async def test_an_event_that_cant_be_read_stops_it_too(
    log: EventLog, owner: AsyncConnection, run_follower: RunFollower
) -> None:
    ledger_id = await open_ledger(log, "unreadable")
    await owner.execute(
        "INSERT INTO events.stored_event VALUES"
        " (%s, 2, 'test.ledger_entered', 'no json', 2, now(), gen_random_uuid(), '{}')",
        [ledger_id],
    )
    await owner.execute("UPDATE events.head SET position = 2")

    async with run_follower(LineCounts()) as follower:
        await until(lambda: follower.status.state == "stopped")

        assert await reason(owner) == follower.status.reason
        assert follower.status.position == 1
    assert (
        follower.status.reason
        == "can't read the event 'test.ledger_entered' at position 2: JSONDecodeError"
    )


async def test_it_gathers_speed_again_behind_a_passing_fault(
    log: EventLog,
    pool: AsyncConnectionPool,
    owner: AsyncConnection,
    run_follower: RunFollower,
) -> None:
    ledger_id = await open_ledger(log, "slow start")
    await run(log, entering(ledger_id, *map(str, range(2000))))
    projector = LineCounts()
    failures = 0

    async def fail_once(db: AsyncConnection[Any]) -> None:
        nonlocal failures
        failures += 1
        if failures == 1:
            raise RuntimeError("once")

    projector.before_return = fail_once
    async with run_follower(projector):
        await caught_up(log, pool)

    assert projector.batches[:5] == [1000, 1, 2, 4, 8]
    assert len(projector.batches) < 20
    assert await lines(owner) == {ledger_id: 2000}
