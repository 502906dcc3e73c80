"""One follower, and what may happen to it."""

from typing import Any

import pytest
from psycopg import AsyncConnection

from projections.catalog import follower_conninfo
from projections.engine.follower import Follower
from projections.engine.follower_position import FollowerPosition, ReplacedError
from projections.engine.progress import LAG, POSITION
from service.database import ADVISORY_LOCK
from service.event_log.log import EventLog
from tests.integration.engine.line_counts import LineCounts, OtherLineCounts
from tests.integration.engine.tables import Engine
from tests.support.event_log.cutting import cut
from tests.support.event_log.logs import enter, entering, open_ledger, run
from tests.support.metrics import value_of
from tests.support.reading import read_events
from tests.support.waiting import until


async def test_it_applies_what_is_there_and_what_comes(engine: Engine) -> None:
    before = await open_ledger(engine.log, "before")
    await run(engine.log, entering(before, *map(str, range(2500))))
    projector = LineCounts()

    async with engine.following(projector) as follower:
        await engine.caught_up()
        after = await open_ledger(engine.log, "after")
        await enter(engine.log, after, "x")
        head = await engine.caught_up()
        await until(lambda: follower.status.position == head)

    assert await engine.lines() == {before: 2500, after: 1}
    assert projector.batches[:3] == [1000, 1000, 501]
    assert follower.status.state == "following"


async def test_it_passes_over_events_of_others(engine: Engine) -> None:
    """The position is the last one looked at, not the last one that matched."""
    ledger_id = await open_ledger(engine.log, "noted")

    async def annotate(work: Any) -> None:
        from tests.support.event_log.ledger import Ledger

        ledger = await work.load(Ledger, ledger_id)
        ledger.annotate(notes={})
        work.save(ledger)

    async with engine.following():
        await run(engine.log, annotate)

        assert await engine.caught_up() == 2


async def test_rows_and_position_are_saved_together_or_not_at_all(
    engine: Engine,
) -> None:
    """Its connection is killed between its writes and its commit."""
    ledger_id = await open_ledger(engine.log, "killed")
    projector = LineCounts()
    kills = 0

    async def kill(db: AsyncConnection[Any]) -> None:
        nonlocal kills
        if kills < 3:
            kills += 1
            await engine.owner.execute(
                "SELECT pg_terminate_backend(%s, 5000)", [db.info.backend_pid]
            )

    projector.before_return = kill
    async with engine.following(projector):
        await enter(engine.log, ledger_id, "once")
        await engine.caught_up()

    assert kills == 3
    assert await engine.lines() == {ledger_id: 1}


async def test_one_of_two_is_active_and_the_other_takes_over(
    engine: Engine, other_log: EventLog
) -> None:
    ledger_id = await open_ledger(engine.log, "handed over")
    async with engine.following(LineCounts(), other_log) as second:
        async with engine.following() as first:
            await until(
                lambda: (
                    {first.status.state, second.status.state}
                    == {"following", "standby"}
                )
            )
            leader = first if first.status.state == "following" else second
            await enter(engine.log, ledger_id, "by the first")
            await engine.caught_up()
            pid = await (
                await engine.owner.execute(
                    "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"
                    " AND database = (SELECT oid FROM pg_database"
                    " WHERE datname = current_database())"
                )
            ).fetchone()
            assert pid is not None
            await engine.owner.execute("SELECT pg_terminate_backend(%s)", pid)
            await enter(engine.log, ledger_id, "by either")
            await engine.caught_up()
            assert leader.status.position >= 2
        await enter(engine.log, ledger_id, "by the second")
        await engine.caught_up()
        await until(lambda: second.status.state == "following")

    assert await engine.lines() == {ledger_id: 3}


async def test_one_that_stands_by_reports_how_far_behind_the_tables_are(
    engine: Engine,
) -> None:
    """The lock may be held by a session that does nothing."""
    ledger_id = await open_ledger(engine.log, "held")
    async with engine.following() as first:
        await engine.caught_up()
    name = f"agent-runtime follower {first.name}"
    await engine.owner.execute(ADVISORY_LOCK, [name])
    await run(engine.log, entering(ledger_id, "a", "b"))

    async with engine.following() as follower:
        await until(lambda: follower.status.state == "standby")

        assert value_of(LAG.labels(first.name)) == 2
        assert value_of(POSITION.labels(first.name)) == 1


async def test_a_log_that_was_cut_and_has_grown_again_stops_it(engine: Engine) -> None:
    """In the same epoch, so that only the events tell both logs apart."""
    ledger_id = await open_ledger(engine.log, "cut")
    await run(engine.log, entering(ledger_id, "a", "b", "c"))
    async with engine.following() as follower:
        await until(lambda: follower.status.position == 4)
        await cut(engine.owner, 1)
        await run(engine.log, entering(ledger_id, "d", "e", "f", "g", "h"))

        async def stopped_by_another_event() -> bool:
            # It may look before the log has grown again, and then after it.
            return await engine.reason() == (
                "the log has another event at 4 than the one applied: LogRewrittenError"
            )

        await until(stopped_by_another_event)
        assert await engine.lines() == {ledger_id: 3}
    async with engine.following() as follower:
        # It notices after a restart, too, and starts over in a new epoch.
        await until(lambda: follower.status.state == "stopped")
        await engine.owner.execute("UPDATE events.head SET epoch = gen_random_uuid()")
        await until(lambda: follower.status.state == "following")
        assert await engine.lines() == {ledger_id: 5}


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE read.position SET position = position + 1",
        "UPDATE read.position SET epoch = gen_random_uuid()",
        "UPDATE read.position SET definition = 'of a newer version'",
    ],
)
async def test_one_that_was_replaced_cant_write_any_more(
    engine: Engine, change: str
) -> None:
    projector = LineCounts()
    async with engine.following(projector):
        ledger_id = await open_ledger(engine.log, "fenced")
        position = await engine.caught_up()
    await enter(engine.log, ledger_id, "late")
    late = await read_events(engine.log, after=position, upto=position + 1, limit=1)
    await engine.owner.execute(change)
    paused = Follower(projector, engine.log, engine.url)

    async with await AsyncConnection.connect(
        follower_conninfo(engine.url), autocommit=True
    ) as db:
        await db.execute("SET search_path = read")
        place = FollowerPosition.of(projector, engine.log.epoch)
        with pytest.raises(ReplacedError):
            await paused._apply(db, place, late, position, position + 1)  # noqa: SLF001 # between two of its steps

    assert await engine.lines() == {ledger_id: 0}


async def test_an_event_that_cant_be_applied_stops_that_follower_alone(
    engine: Engine,
) -> None:
    ledger_id = await open_ledger(engine.log, "poisoned")
    await run(engine.log, entering(ledger_id, *"abcdefgh", "poison", *"ijkl"))
    projector = LineCounts()
    projector.poison = "poison"
    async with (
        engine.following(projector) as follower,
        engine.following(OtherLineCounts()),
    ):
        await until(lambda: follower.status.state == "stopped")
        await engine.caught_up("other_line_counts")
        await engine.reason()

        assert await engine.lines() == {ledger_id: 8}
        found = await engine.place()
        assert found is not None
        assert found[0] == follower.status.position == 9
        assert found[1] == follower.status.reason
        assert "'test.ledger_entered' at position 10: ValueError" in str(found[1])
        assert (await engine.place("other_line_counts")) == (14, None)

        projector.poison = None
        await engine.caught_up()
        await until(lambda: follower.status.state == "following")

    assert await engine.lines() == {ledger_id: 13}
    assert await engine.place() == (14, None)
    assert follower.status.reason is None


async def test_an_event_that_cant_be_read_stops_it_too(engine: Engine) -> None:
    ledger_id = await open_ledger(engine.log, "unreadable")
    await engine.owner.execute(
        "INSERT INTO events.stored_event VALUES"
        " (%s, 2, 'test.ledger_entered', 'no json', 2, now(), gen_random_uuid(), '{}')",
        [ledger_id],
    )
    await engine.owner.execute("UPDATE events.head SET position = 2")

    async with engine.following() as follower:
        await until(lambda: follower.status.state == "stopped")

        assert await engine.reason() == follower.status.reason
        assert follower.status.position == 1
    assert (
        follower.status.reason
        == "can't read the event 'test.ledger_entered' at position 2: JSONDecodeError"
    )


async def test_it_gathers_speed_again_behind_a_passing_fault(engine: Engine) -> None:
    ledger_id = await open_ledger(engine.log, "slow start")
    await run(engine.log, entering(ledger_id, *map(str, range(2000))))
    projector = LineCounts()
    failures = 0

    async def fail_once(db: AsyncConnection[Any]) -> None:
        nonlocal failures
        failures += 1
        if failures == 1:
            raise RuntimeError("once")

    projector.before_return = fail_once
    async with engine.following(projector):
        await engine.caught_up()

    assert projector.batches[:5] == [1000, 1, 2, 4, 8]
    assert len(projector.batches) < 20
    assert await engine.lines() == {ledger_id: 2000}
