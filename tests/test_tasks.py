"""Ending tasks, also those that lose a cancellation."""

import asyncio
from typing import Any

import pytest
from psycopg_pool import AsyncConnectionPool

from service.tasks import end_tasks


async def test_a_task_that_loses_a_cancellation_still_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("service.tasks.CANCEL_AGAIN_S", 0.01)
    lost = 0

    async def deaf() -> None:
        nonlocal lost
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                lost += 1
                if lost == 3:
                    raise

    task = asyncio.create_task(deaf())
    await asyncio.sleep(0)

    await end_tasks(task)

    assert task.cancelled()


async def test_what_a_task_failed_of_is_not_raised_again() -> None:
    async def broken() -> None:
        raise RuntimeError("of its own")

    task = asyncio.create_task(broken())
    await asyncio.sleep(0)

    await end_tasks(task)


async def test_tasks_that_compete_for_a_pool_end(postgres: str) -> None:
    """Where psycopg's pool loses a cancellation, on Python 3.11."""

    async def use(pool: AsyncConnectionPool[Any]) -> None:
        while True:
            async with pool.connection() as connection:
                await connection.execute("SELECT 1")

    async with AsyncConnectionPool(
        postgres, kwargs={"autocommit": True}, min_size=1, max_size=1, open=False
    ) as pool:
        for _ in range(6):
            tasks = [asyncio.create_task(use(pool)) for _ in range(5)]
            await asyncio.sleep(0.003)
            async with asyncio.timeout(60):
                await end_tasks(*tasks)
