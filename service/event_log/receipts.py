"""Forget answers that were kept for an Idempotency-Key and are old enough."""

import asyncio
import logging
from datetime import timedelta
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

KEPT_FOR = timedelta(hours=24)
PRUNE_EVERY_S = 3600.0
RETRY_S = 60.0
# A long delete would hold back vacuum, and flood a standby.
PRUNE_ROWS_MAX = 1000
PRUNE = """
    DELETE FROM events.receipt
     WHERE key IN (
           SELECT key FROM events.receipt
            WHERE recorded_at < clock_timestamp() - %(kept_for)s
            ORDER BY recorded_at
            LIMIT %(rows)s)
"""

logger = logging.getLogger(__name__)


async def keep_pruning(pool: AsyncConnectionPool[AsyncConnection[Any]]) -> None:
    """Prune once an hour, until cancelled; any number of processes may do so."""
    while True:
        try:
            await prune(pool)
        except (psycopg.Error, OSError) as error:
            logger.warning("can't prune the kept answers: %s", error)
            await asyncio.sleep(RETRY_S)
        else:
            await asyncio.sleep(PRUNE_EVERY_S)


async def prune(
    pool: AsyncConnectionPool[AsyncConnection[Any]],
    *,
    rows_max: int = PRUNE_ROWS_MAX,
) -> int:
    """Delete what is too old, some at a time, and return how many."""
    pruned = 0
    while True:
        async with pool.connection() as connection:
            cursor = await connection.execute(
                PRUNE, {"kept_for": KEPT_FOR, "rows": rows_max}
            )
        pruned += cursor.rowcount
        if cursor.rowcount < rows_max:
            return pruned
