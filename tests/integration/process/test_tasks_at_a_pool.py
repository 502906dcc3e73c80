"""Ending tasks that wait for a connection of psycopg's pool."""

import asyncio
from typing import Any

from psycopg_pool import AsyncConnectionPool

from service.tasks import end_tasks


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
