"""Delete the receipts of idempotency keys after their retention."""

import asyncio
import logging
from datetime import timedelta

import psycopg

from service.database import Pool

RETENTION = timedelta(hours=24)
INTERVAL_S = 3600.0
RETRY_S = 60.0
# A long delete would hold back vacuum, and flood a standby.
DELETE_ROWS_MAX = 1000
DELETE_EXPIRED = """
    DELETE FROM events.receipt
     WHERE key IN (
           SELECT key FROM events.receipt
            WHERE recorded_at < clock_timestamp() - %(retention)s
            ORDER BY recorded_at
            LIMIT %(rows)s)
"""

logger = logging.getLogger(__name__)


async def keep_deleting_expired(
    pool: Pool,
) -> None:
    """Delete expired receipts once an hour, until cancelled.

    Any number of processes may do so.
    """
    while True:
        try:
            await delete_expired(pool)
        except (psycopg.Error, OSError) as error:
            logger.warning("can't delete expired receipts: %s", error)
            await asyncio.sleep(RETRY_S)
        else:
            await asyncio.sleep(INTERVAL_S)


async def delete_expired(
    pool: Pool,
    *,
    rows_max: int = DELETE_ROWS_MAX,
) -> int:
    """Delete expired receipts in several statements; return how many."""
    deleted = 0
    while True:
        async with pool.connection() as connection:
            cursor = await connection.execute(
                DELETE_EXPIRED, {"retention": RETENTION, "rows": rows_max}
            )
        deleted += cursor.rowcount
        if cursor.rowcount < rows_max:
            return deleted
