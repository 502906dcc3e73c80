"""Commands that wait for their commit, and those that can't."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from psycopg import AsyncConnection

from service.event_log import command_queue
from service.event_log.append import (
    OverloadedError,
)
from service.event_log.log import EventLog
from tests.support.event_log.ledger import Ledger
from tests.support.event_log.logs import (
    decided,
    entering,
    expect_sound,
    new_ledger,
    open_ledger,
    open_log,
    open_unhurried_log,
    until_somebody_waits,
)
from tests.support.waiting import until


async def test_a_command_outlives_the_cancellation_of_its_caller(
    log: EventLog,
) -> None:
    waiting = asyncio.create_task(log.append(new_ledger(log, "left alone")))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    # Queued behind it, so it is there by now.
    await log.append(new_ledger(log))

    assert await log.load(Ledger.create_id("left alone")) is not None


async def test_stopping_commits_what_waits(
    database_url: str, owner: AsyncConnection
) -> None:
    async with open_log(database_url) as log:
        waiting = [asyncio.create_task(log.append(new_ledger(log))) for _ in range(400)]
        await asyncio.sleep(0)

    assert {(await each).position for each in waiting} == set(range(1, 401))
    assert await expect_sound(owner) == 400


@pytest.fixture
async def log(database_url: str) -> AsyncIterator[EventLog]:
    async with open_unhurried_log(database_url) as opened:
        yield opened


async def test_a_full_queue_refuses_and_appends_nothing(
    log: EventLog, owner: AsyncConnection
) -> None:
    commands = [new_ledger(log) for _ in range(command_queue.QUEUE_COMMANDS_MAX)]
    first, last = new_ledger(log), new_ledger(log)
    async with owner.transaction():
        # The writer waits for this lock.
        await owner.execute("SELECT FROM events.head FOR UPDATE")
        committing = asyncio.create_task(log.append(first))
        await until_somebody_waits(owner)
        waiting = [asyncio.create_task(log.append(each)) for each in commands]
        await asyncio.sleep(0)

        with pytest.raises(OverloadedError) as refused:
            await log.append(last)

    assert refused.value.headers == {"Retry-After": "1"}
    await asyncio.gather(committing, *waiting)
    assert (await log.head()).position == command_queue.QUEUE_COMMANDS_MAX + 1


async def test_a_queue_of_large_commands_is_full_sooner(
    log: EventLog, owner: AsyncConnection
) -> None:
    note = "x" * (command_queue.QUEUE_BYTES_MAX // 4)
    ledger_ids = [await open_ledger(log, str(number)) for number in range(12)]
    large = [await decided(log, entering(each, note)) for each in ledger_ids]
    async with owner.transaction():
        await owner.execute("SELECT FROM events.head FOR UPDATE")
        tasks = [asyncio.create_task(log.append(each)) for each in large]
        await until(lambda: any(task.done() for task in tasks))
        refused = [task for task in tasks if task.done() and task.exception()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    assert refused
    assert all(isinstance(task.exception(), OverloadedError) for task in refused)
