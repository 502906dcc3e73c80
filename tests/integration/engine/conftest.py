from collections.abc import AsyncIterator

import pytest
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from service.connection_pool import connection_pool
from service.database import service_conninfo
from service.event_log.log import EventLog
from tests.integration.engine.tables import Engine
from tests.integration.event_log.conftest import other_log, owner
from tests.support.event_log.logs import open_log
from tests.support.postgres_proxy import proxy

__all__ = ["other_log", "owner", "proxy"]


@pytest.fixture
async def log(database_url: str) -> AsyncIterator[EventLog]:
    async with open_log(database_url) as log:
        yield log


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[AsyncConnectionPool]:
    async with connection_pool(service_conninfo(database_url)) as pool:
        await pool.wait(60)
        yield pool


@pytest.fixture
def engine(
    log: EventLog, pool: AsyncConnectionPool, owner: AsyncConnection, database_url: str
) -> Engine:
    return Engine(log, pool, owner, database_url)
