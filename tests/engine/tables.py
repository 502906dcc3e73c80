"""What the test projector's tables and places say."""

import asyncio
from typing import Any

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from projections.engine.progress import wait_for_position
from service.event_log.log import EventLog


async def caught_up(
    log: EventLog, pool: AsyncConnectionPool[Any], name: str = "line_counts"
) -> int:
    """Wait until a follower has applied everything; return that position."""
    head = (await log.head()).position
    await wait_for_position(pool, [name], head, timeout_s=60)
    return head


async def lines(db: AsyncConnection[Any]) -> dict[Any, int]:
    cursor = await db.execute("SELECT ledger_id, lines FROM read.line_count")
    return dict(await cursor.fetchall())


async def place(
    db: AsyncConnection[Any], name: str = "line_counts"
) -> tuple[int, str | None] | None:
    cursor = await db.execute(
        "SELECT position, reason FROM read.position WHERE follower = %s", [name]
    )
    return await cursor.fetchone()


async def reason(db: AsyncConnection[Any], name: str = "line_counts") -> str:
    """Wait until a follower has recorded why it stopped."""
    async with asyncio.timeout(60):
        while True:
            found = await place(db, name)
            if found is not None and found[1] is not None:
                return found[1]
            await asyncio.sleep(0.01)
