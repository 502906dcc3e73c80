"""The test projector's follower, and what its tables and places say."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from projections.catalog import follower_conninfo
from projections.engine.follower import Follower
from projections.engine.progress import wait_for_position
from projections.engine.projector import Projector
from projections.engine.rebuild import rebuild
from service.event_log.log import EventLog
from service.tasks import end_tasks
from tests.integration.engine.line_counts import LineCounts
from tests.support.waiting import until

NAME = LineCounts.name


@dataclass(frozen=True, slots=True)
class Engine:
    """A log and its database; ``owner`` is the connection of who owns it."""

    log: EventLog
    pool: AsyncConnectionPool[Any]
    owner: AsyncConnection[Any]
    url: str

    @asynccontextmanager
    async def following(
        self, projector: Projector | None = None, log: EventLog | None = None
    ) -> AsyncIterator[Follower]:
        """Run a projector's follower until the block ends."""
        async with running(
            Follower(
                projector or LineCounts(),
                log or self.log,
                follower_conninfo(self.url),
                stopped_retry_s=0.1,
            )
        ) as follower:
            yield follower

    async def caught_up(self, name: str = NAME) -> int:
        """Wait until a follower has applied everything; return that position."""
        head = (await self.log.head()).position
        await wait_for_position(self.pool, [name], head, timeout_s=60)
        return head

    async def followed(self) -> int:
        """Follow the log up to its end; return that position."""
        async with self.following():
            return await self.caught_up()

    async def rebuild(self, projector: Projector | None = None) -> int:
        conninfo = follower_conninfo(self.url)
        return await rebuild(conninfo, self.log.mapper, projector or LineCounts())

    async def lines(self) -> dict[Any, int]:
        return await lines(self.owner)

    async def place(self, name: str = NAME) -> tuple[int, str | None] | None:
        cursor = await self.owner.execute(
            "SELECT position, reason FROM read.position WHERE follower = %s", [name]
        )
        return await cursor.fetchone()

    async def reason(self) -> str:
        """Wait until the follower has recorded why it stopped."""

        async def recorded() -> str | None:
            found = await self.place()
            return found[1] if found else None

        return str(await until(recorded))


@asynccontextmanager
async def running(follower: Follower) -> AsyncIterator[Follower]:
    task = asyncio.create_task(follower.run())
    try:
        yield follower
    finally:
        await end_tasks(task)


async def lines(db: AsyncConnection[Any]) -> dict[Any, int]:
    cursor = await db.execute("SELECT ledger_id, lines FROM read.line_count")
    return dict(await cursor.fetchall())
