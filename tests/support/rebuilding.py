"""Whether a projection says the same when it is built again from the log."""

import re

from psycopg.sql import SQL, Identifier

from projections.catalog import follower_conninfo
from projections.engine.progress import wait_for_position
from projections.engine.rebuild import rebuild
from service.resources import Resources
from tests.support.projectors import PROJECTORS

TABLE = re.compile(r"^CREATE TABLE (\w+)", re.MULTILINE)


async def tables(resources: Resources, name: str) -> dict[str, list[str]]:
    """Every row of a projection's tables as text, once it reflects the whole log."""
    projector = next(each for each in PROJECTORS if each.name == name)
    head = await resources.log.head()
    await wait_for_position(resources.pool, [name], head.position, timeout_s=60)
    found = {}
    async with resources.pool.connection() as db:
        for table in TABLE.findall(projector.table_sql):
            cursor = await db.execute(
                SQL("SELECT t::text FROM read.{} t ORDER BY 1").format(
                    Identifier(table)
                )
            )
            found[table] = [row[0] for row in await cursor.fetchall()]
    return found


async def indexes(resources: Resources) -> set[str]:
    async with resources.pool.connection() as db:
        cursor = await db.execute(
            "SELECT indexdef FROM pg_indexes WHERE schemaname = 'read'"
        )
        return {row[0] for row in await cursor.fetchall()}


async def expect_rebuild_equals_live(resources: Resources, name: str) -> None:
    """Rebuild a projection and expect every row of it again, byte for byte."""
    live, indexed = await tables(resources, name), await indexes(resources)
    assert all(live.values()), "a comparison of empty tables proves nothing"
    projector = next(each for each in PROJECTORS if each.name == name)
    conninfo = follower_conninfo(resources.database_url)
    await rebuild(conninfo, resources.log.mapper, projector)
    assert await tables(resources, name) == live
    assert await indexes(resources) == indexed
