"""Evict keys from the cache when another process has destroyed them."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from psycopg import Error, sql

from service.database import connect
from service.keys.destruction import DESTROYED_KEYS_CHANNEL
from service.keys.user_keys import UserKeys
from service.tasks import background_task, end_tasks

RECONNECT_S = 1.0

logger = logging.getLogger(__name__)


@asynccontextmanager
async def evicting(conninfo: str, user_keys: UserKeys) -> AsyncIterator[None]:
    """Listen for destroyed keys until the block ends.

    Notifications take milliseconds. Without a connection, a key stays in the cache
    for at most ``CACHED_FOR_S``.
    """
    task = background_task(lambda: _listen(conninfo, user_keys), name="key eviction")
    try:
        yield
    finally:
        await end_tasks(task)


async def _listen(conninfo: str, user_keys: UserKeys) -> None:
    listen = sql.SQL("LISTEN {}").format(sql.Identifier(DESTROYED_KEYS_CHANNEL))
    while True:
        try:
            async with await connect(conninfo) as connection:
                await connection.execute(listen)
                # Keys destroyed before LISTEN were not notified.
                user_keys.forget_all()
                async for notification in connection.notifies():
                    user_keys.forget(UUID(notification.payload))
        except (Error, OSError):
            logger.warning(
                "lost the connection that listens for destroyed keys; reconnecting"
            )
        await asyncio.sleep(RECONNECT_S)
