"""Delete the receipts of idempotency keys after their retention, a day at a time.

A lookup ignores receipts that are older than ``RETENTION``. They are deleted with all
others of a day, when the last of these has expired.
"""

import asyncio
import logging
from datetime import timedelta

import psycopg

from service.database import Pool, message_of

RETENTION = timedelta(hours=24)
INTERVAL_S = 3600.0
RETRY_S = 60.0
# Appends would wait behind its lock for as long as the standbys are away.
WITHOUT_STANDBYS = "SET LOCAL synchronous_commit = local"
ROTATE = "SELECT events.rotate_receipts()"

logger = logging.getLogger(__name__)


async def keep_deleting_expired(pool: Pool) -> None:
    """Delete a day of expired receipts whenever there is one, until cancelled.

    Any number of processes may do so.
    """
    while True:
        try:
            await delete_expired(pool)
        except (psycopg.Error, OSError) as error:
            logger.warning("can't delete expired receipts: %s", message_of(error))
            await asyncio.sleep(RETRY_S)
        else:
            await asyncio.sleep(INTERVAL_S)


async def delete_expired(pool: Pool) -> bool:
    """Delete a day of receipts if all of them have expired; return whether they had.

    :raises psycopg.errors.LockNotAvailable: a table is being read, as by a backup
    """
    async with pool.connection() as connection, connection.transaction():
        await connection.execute(WITHOUT_STANDBYS)
        cursor = await connection.execute(ROTATE)
        row = await cursor.fetchone()
    assert row is not None
    return bool(row[0])
