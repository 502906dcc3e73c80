"""What the test projector's tables and places say."""

from typing import Any

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from projections.engine.progress import wait_for_position
from service.event_log.log import EventLog
from tests.support.waiting import until


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

    async def recorded() -> str | None:
        found = await place(db, name)
        return found[1] if found else None

    return str(await until(recorded))
