from collections.abc import AsyncIterator

import pytest
from psycopg import AsyncConnection

from service.event_log.log import EventLog
from tests.support.event_log.logs import expect_sound, open_log
from tests.support.postgres_proxy import proxy

__all__ = ["proxy"]


@pytest.fixture
async def log(database_url: str) -> AsyncIterator[EventLog]:
    """An event log, whose soundness is checked after the test."""
    async with open_log(database_url) as log:
        yield log
    async with await AsyncConnection.connect(database_url) as db:
        await expect_sound(db)


@pytest.fixture
async def other_log(database_url: str) -> AsyncIterator[EventLog]:
    """The log of another process, over the same database."""
    async with open_log(database_url) as log:
        yield log


@pytest.fixture
async def owner(database_url: str) -> AsyncIterator[AsyncConnection]:
    """The connection of who owns the schema."""
    async with await AsyncConnection.connect(database_url, autocommit=True) as db:
        yield db
