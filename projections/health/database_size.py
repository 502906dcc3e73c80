"""The bytes of the database, measured now and then: it reads the size of each file."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import psycopg
from prometheus_client import Gauge

from service.database import Pool
from service.tasks import background_task, end_tasks

INTERVAL_S: Final = 60.0
SIZE: Final = "SELECT pg_database_size(current_database())"

BYTES: Final = Gauge(
    "agent_runtime_database_bytes",
    "Bytes of the database's tables and indexes, without WAL, measured once a minute "
    "by each process that runs followers.",
)

logger = logging.getLogger(__name__)


async def measure(pool: Pool) -> None:
    async with pool.connection() as db:
        row = await (await db.execute(SIZE)).fetchone()
    assert row is not None
    BYTES.set(row[0])


@asynccontextmanager
async def measuring_database_size(pool: Pool) -> AsyncIterator[None]:
    """Measure until the block ends; while the database is away, the last size stays."""
    task = background_task(lambda: _keep_measuring(pool), name="database size")
    try:
        yield
    finally:
        await end_tasks(task)


async def _keep_measuring(pool: Pool) -> None:
    while True:
        try:
            await measure(pool)
        except psycopg.OperationalError as error:
            logger.debug("can't measure the database: %s", type(error).__name__)
        await asyncio.sleep(INTERVAL_S)
