"""What the writer measures of its commits."""

import asyncio

from prometheus_client import Histogram
from psycopg import AsyncConnection

from service.event_log.log import EventLog
from service.event_log.writer import DURATION, LOCK_WAIT
from tests.support.event_log.logs import new_ledger
from tests.support.waiting import until

WAITING = """
    SELECT count(*) FROM pg_stat_activity
     WHERE query LIKE '%events.append(%' AND wait_event_type = 'Lock'
       AND query_start < clock_timestamp() - interval '0.3 s'
"""


def total(histogram: Histogram) -> float:
    samples = next(iter(histogram.collect())).samples
    return next(each.value for each in samples if each.name.endswith("_sum"))


async def test_the_wait_for_the_end_of_the_log_is_measured(
    log: EventLog, owner: AsyncConnection, database_url: str
) -> None:
    before = total(LOCK_WAIT), total(DURATION)

    async with (
        await AsyncConnection.connect(database_url, autocommit=True) as watcher,
        owner.transaction(),
    ):
        # As another process that appends: PostgreSQL takes the time again behind it.
        await owner.execute("UPDATE events.head SET recorded_at = recorded_at")
        append = asyncio.create_task(log.append(new_ledger(log)))

        async def waits() -> bool:
            row = await (await watcher.execute(WAITING)).fetchone()
            return row is not None and row[0] == 1

        await until(waits)
    await append

    waited, lasted = total(LOCK_WAIT) - before[0], total(DURATION) - before[1]
    assert 0.3 <= waited <= lasted


async def test_an_uncontended_lock_is_taken_at_once(log: EventLog) -> None:
    before = total(LOCK_WAIT), total(DURATION)

    for _ in range(3):
        await log.append(new_ledger(log))

    assert 0 <= total(LOCK_WAIT) - before[0] < total(DURATION) - before[1]


async def test_a_log_ahead_of_the_clock_is_no_wait(
    log: EventLog, owner: AsyncConnection
) -> None:
    await owner.execute("UPDATE events.head SET recorded_at = now() + interval '1 day'")
    before = total(LOCK_WAIT), total(DURATION)

    await log.append(new_ledger(log))

    assert 0 <= total(LOCK_WAIT) - before[0] < total(DURATION) - before[1]
