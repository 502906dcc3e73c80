"""The pool of connections after the server has gone and come back."""

import asyncio

import psycopg

from service.database import POOL_SIZE_MAX, connection_pool, service_conninfo

END_OTHERS = """
    SELECT count(pg_terminate_backend(pid, 1000))
      FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


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
