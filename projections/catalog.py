"""Every projector, and running them all."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from projections.engine.follower import Follower
from projections.engine.projector import Projector
from service.capabilities.catalog import running
from service.config import DEFAULTS, Config
from service.database import service_conninfo
from service.event_log.log import EventLog
from service.spans import Spans
from service.tasks import end_tasks


def running_projectors(config: Config = DEFAULTS) -> list[Projector]:
    """Return the projectors of what the settings don't leave out, by name."""
    return sorted(
        (each for capability in running(config) for each in capability.projectors),
        key=lambda projector: projector.name,
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
    projectors: Sequence[Projector] | None = None,
    *,
    traces: Spans | None = None,
) -> AsyncIterator[list[Follower]]:
    """Run a follower for each projector, or for all, until the block ends."""
    conninfo = follower_conninfo(database_url)
    followers = [
        Follower(projector, log, conninfo, traces=traces)
        for projector in (running_projectors() if projectors is None else projectors)
    ]
    tasks = [
        asyncio.create_task(follower.run(), name=f"follower {follower.name}")
        for follower in followers
    ]
    try:
        yield followers
    finally:
        await end_tasks(*tasks)
