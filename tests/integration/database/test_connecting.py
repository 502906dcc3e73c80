"""A server that isn't there yet, and one that has gone and come back."""

import asyncio
import sys
import time

import psycopg
import pytest
from psycopg import OperationalError

from service.connection_pool import (
    POOL_SIZE_MAX,
    BoundedConnection,
    SilentServerError,
    connection_pool,
)
from service.database import (
    SERVER_START_S,
    service_conninfo,
    wait_for_server,
)
from tests.support.postgres_proxy import Proxy

END_OTHERS = """
    SELECT count(pg_terminate_backend(pid, 1000))
      FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()
"""

WAIT = """
import sys
import psycopg
from service.database import wait_for_server
wait_for_server(sys.argv[1])
psycopg.connect(sys.argv[1]).close()
"""


@pytest.mark.usefixtures("own_time_limits")
async def test_a_request_does_not_pay_for_every_dead_connection(
    database_url: str,
) -> None:
    async with connection_pool(service_conninfo(database_url)) as pool:
        all_lent = asyncio.Barrier(POOL_SIZE_MAX)

        async def hold() -> None:
            async with pool.connection():
                await all_lent.wait()

        await asyncio.gather(*(hold() for _ in range(POOL_SIZE_MAX)))
        with psycopg.connect(database_url, autocommit=True) as owner:
            row = owner.execute(END_OTHERS).fetchone()
            assert row is not None
            assert row[0] >= POOL_SIZE_MAX

        # Without the pool's timeout passing: the first to ask is answered.
        async with pool.connection() as db:
            cursor = await db.execute("SELECT 1")
            assert await cursor.fetchone() == (1,)


async def test_a_server_that_stops_answering_is_given_up(
    database_url: str,
) -> None:
    """A frozen primary kept every connection of the pool, and requests with them."""
    conninfo = service_conninfo(database_url, statement_timeout="0")
    async with connection_pool(conninfo) as pool:
        async with pool.connection() as db:
            assert isinstance(db, BoundedConnection)
            db.silence_s = 0.1
            with pytest.raises(SilentServerError, match="has not answered"):
                await db.execute("SELECT pg_sleep(600)")

        async with pool.connection() as db:
            cursor = await db.execute("SELECT 1")
            assert await cursor.fetchone() == (1,)


async def test_a_server_that_is_not_there_yet_is_awaited(
    proxy: Proxy, database_url: str
) -> None:
    url = proxy.url(database_url)
    proxy.go_away()
    # A process of its own: the driver holds up all threads while it asks.
    waiting = await asyncio.create_subprocess_exec(sys.executable, "-c", WAIT, url)
    await asyncio.sleep(0.5)
    was_waiting = waiting.returncode is None

    proxy.come_back()

    assert was_waiting
    assert await asyncio.wait_for(waiting.wait(), 60) == 0


@pytest.mark.thorough
def test_waiting_for_a_server_times_out() -> None:
    started = time.monotonic()

    wait_for_server("postgresql://127.0.0.1:1/nothing", timeout_s=0.3)

    assert 0.3 <= time.monotonic() - started < SERVER_START_S


@pytest.mark.thorough
def test_permanent_failures_end_the_wait(database_url: str) -> None:
    started = time.monotonic()

    wait_for_server(psycopg.conninfo.make_conninfo(database_url, user="nobody"))

    assert time.monotonic() - started < SERVER_START_S
    with pytest.raises(OperationalError, match="nobody"):
        psycopg.connect(database_url, user="nobody")
