"""Every projector, and running them all."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from projections.engine.follower import Follower
from projections.engine.projector import Projector
from service.capabilities.catalog import CAPABILITIES
from service.database import service_conninfo
from service.event_log.log import EventLog
from service.tasks import end_tasks

if TYPE_CHECKING:
    from service.tracing.tracing import Tracing

PROJECTORS: Final[tuple[Projector, ...]] = tuple(
    sorted(
        (each for capability in CAPABILITIES for each in capability.projectors),
        key=lambda projector: projector.name,
    )
)


def follower_conninfo(database_url: str) -> str:
    """Return a connection string with the longer timeouts of a batch or a rebuild.

    A commit doesn't wait for the disk: rows and position are lost together, if at
    all, and the log, which is never lost, makes them again.
    """
    return service_conninfo(
        database_url,
        synchronous_commit="off",
        statement_timeout="10min",
        lock_timeout="1min",
        idle_in_transaction_session_timeout="1min",
    )


@asynccontextmanager
async def run_followers(
    log: EventLog,
    database_url: str,
    projectors: Sequence[Projector] = PROJECTORS,
    *,
    traces: "Tracing | None" = None,
) -> AsyncIterator[list[Follower]]:
    """Run one follower for each projector until the block ends."""
    conninfo = follower_conninfo(database_url)
    followers = [
        Follower(projector, log, conninfo, traces=traces) for projector in projectors
    ]
    tasks = [
        asyncio.create_task(follower.run(), name=f"follower {follower.name}")
        for follower in followers
    ]
    try:
        yield followers
    finally:
        await end_tasks(*tasks)
