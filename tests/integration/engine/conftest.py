import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from projections.catalog import follower_conninfo
from projections.engine.follower import Follower
from projections.engine.projector import Projector
from service.connection_pool import connection_pool
from service.database import service_conninfo
from service.event_log.log import EventLog
from service.tasks import end_tasks
from tests.support.event_log.logs import open_log

RunFollower = Callable[..., AbstractAsyncContextManager[Follower]]


@pytest.fixture
async def log(database_url: str) -> AsyncIterator[EventLog]:
    async with open_log(database_url) as log:
        yield log


@pytest.fixture
async def other_log(database_url: str) -> AsyncIterator[EventLog]:
    """The log of another process, over the same database."""
    async with open_log(database_url) as log:
        yield log


@pytest.fixture
async def owner(database_url: str) -> AsyncIterator[AsyncConnection]:
    """The connection of who owns the database."""
    async with await AsyncConnection.connect(database_url, autocommit=True) as db:
        yield db


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[AsyncConnectionPool]:
    async with connection_pool(service_conninfo(database_url)) as pool:
        await pool.wait(60)
        yield pool


@pytest.fixture
def run_follower(database_url: str, log: EventLog) -> RunFollower:
    """Run a projector's follower until the block ends."""

    @asynccontextmanager
    async def run(projector: Projector, log: EventLog = log) -> AsyncIterator[Follower]:
        follower = Follower(
            projector, log, follower_conninfo(database_url), stopped_retry_s=0.1
        )
        task = asyncio.create_task(follower.run())
        try:
            yield follower
        finally:
            await end_tasks(task)

    return run
