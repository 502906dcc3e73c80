"""News of a commit may be lost; what was committed may not."""

import asyncio

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from service.event_log.log import EventLog
from tests.engine.conftest import RunFollower
from tests.engine.line_counts import LineCounts
from tests.engine.tables import caught_up
from tests.event_log.logs import open_ledger
from tests.waiting import until


async def test_without_listen_it_still_looks_now_and_then(
    log: EventLog,
    other_log: EventLog,
    pool: AsyncConnectionPool,
    run_follower: RunFollower,
) -> None:
    async with run_follower(LineCounts()):
        await caught_up(log, pool)
        await log.notifier.stop()

        await open_ledger(other_log, "unheard")

        await asyncio.wait_for(caught_up(log, pool), 60)


async def test_a_lost_listen_is_taken_up_again(
    log: EventLog, other_log: EventLog, owner: AsyncConnection
) -> None:
    await owner.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND query LIKE 'LISTEN%'"
    )
    listening = (
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND query LIKE 'LISTEN%'"
    )

    async def all_listen() -> bool:
        return await (await owner.execute(listening)).fetchone() == (2,)

    await until(all_listen)

    with log.notifier.subscribe() as committed:
        committed.clear()
        await open_ledger(other_log, "heard")
        await asyncio.wait_for(committed.wait(), 60)
