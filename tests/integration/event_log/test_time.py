"""When the log says that things happened."""

import asyncio
from datetime import UTC, datetime, timedelta
from random import Random

from psycopg import AsyncConnection

from service.event_log import reader
from service.event_log.log import EventLog
from tests.support.event_log.logs import (
    enter,
    expect_sound,
    new_ledger,
    open_ledger,
)
from tests.support.reading import read_events

MICROSECOND = timedelta(microseconds=1)


async def test_time_goes_on_when_the_clock_goes_back(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "clock")
    ahead = datetime.now(UTC) + timedelta(days=365)
    await owner.execute("UPDATE events.head SET recorded_at = %s", [ahead])

    await enter(log, ledger_id, "by a clock a year behind")
    await enter(log, ledger_id, "and another")

    first, second = (await read_events(log, after=1, upto=3, limit=9))[:2]
    assert ahead < first.recorded_at < second.recorded_at
    assert second.recorded_at < ahead + timedelta(seconds=1)
    await expect_sound(owner)


async def test_position_at_equals_a_linear_scan(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "times")
    for number in range(40):
        notes = [f"{number}/{n}" for n in range(number % 4 + 1)]
        await enter(log, ledger_id, *notes)
        if number % 7 == 0:
            await asyncio.gather(*(log.append(new_ledger(log)) for _ in range(9)))
    recorded = [
        each.recorded_at
        for each in await read_events(log, after=0, upto=999, limit=999)
    ]
    random = Random(7)  # noqa: S311 # repeatable
    span = (recorded[-1] - recorded[0]) / MICROSECOND
    moments = [
        *recorded,
        *(each + MICROSECOND for each in recorded),
        *(each - MICROSECOND for each in recorded),
        *(
            recorded[0] + random.uniform(-0.1, 1.1) * span * MICROSECOND
            for _ in range(300)
        ),
        datetime.min.replace(tzinfo=UTC),
        datetime.max.replace(tzinfo=UTC),
    ]

    found = [await reader.position_at(owner, moment) for moment in moments]

    assert found == [sum(each <= moment for each in recorded) for moment in moments]


async def test_before_the_first_event_there_is_no_position(
    log: EventLog, owner: AsyncConnection
) -> None:
    assert await reader.position_at(owner, datetime.now(UTC)) == 0
