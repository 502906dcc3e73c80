"""Fill a projector's tables anew beside the live ones, compare, and switch."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection
from psycopg.sql import SQL, Identifier

from projections.projector import Projector
from service.event_log import reader
from service.event_log.mapper import EventMapper

BATCH_EVENTS_MAX = 5000
SCAN_POSITIONS_MAX = 100_000
# The last stretch is applied while the live follower waits.
SWITCH_LAG_MAX = 2000

TABLES = """
    SELECT c.relname
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = %s AND c.relkind = 'r'
     ORDER BY c.relname
"""
LIVE_TABLE = """
    SELECT array_agg(a.attname::text ORDER BY a.attnum)
      FROM pg_attribute a
     WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped
"""
LOCK_PLACE = """
    SELECT position, definition FROM read.position WHERE follower = %s FOR UPDATE
"""
PLACE = """
    INSERT INTO read.position (follower, position, epoch, definition)
    SELECT %s, %s, epoch, %s FROM events.head
    ON CONFLICT (follower) DO UPDATE
       SET position = excluded.position, epoch = excluded.epoch,
           definition = excluded.definition, reason = NULL, moved_at = now()
"""

logger = logging.getLogger(__name__)
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Difference:
    """Rows of a table that only one of both generations has; both 0 when equal."""

    table: str
    only_before: int
    only_rebuilt: int


async def create_tables(
    db: AsyncConnection[Any], projector: Projector, schema: str
) -> None:
    """Create a projector's tables in a schema; expects a transaction around it."""
    await db.execute(SQL("SET LOCAL search_path = {}").format(Identifier(schema)))
    await db.execute(projector.table_sql)


async def rebuild(
    db: AsyncConnection[Any],
    mapper: EventMapper,
    projector: Projector,
    progress: Progress | None = None,
) -> int:
    """Rebuild one projection and return the position that it reflects.

    Readers see the old tables until the switch, and the new ones after it. The
    live follower may run all the while. Differences between both generations are
    logged: none are expected unless the projector's meaning changed.
    """
    schema = f"rebuild_{projector.name}"
    identifier = Identifier(schema)
    await db.execute(SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(identifier))
    await db.execute(SQL("CREATE SCHEMA {}").format(identifier))
    async with db.transaction():
        await create_tables(db, projector, schema)
    position = 0
    while True:
        head, _ = await reader.head(db)
        if progress:
            progress(position, head)
        if head - position <= SWITCH_LAG_MAX:
            break
        async with db.transaction():
            position = await _fill(db, mapper, projector, position, head)
    async with db.transaction():
        return await _switch(db, mapper, projector, position)


async def _fill(
    db: AsyncConnection[Any],
    mapper: EventMapper,
    projector: Projector,
    position: int,
    head: int,
) -> int:
    """Apply one batch to the new tables and return the position reached."""
    schema = Identifier(f"rebuild_{projector.name}")
    upto = min(head, position + SCAN_POSITIONS_MAX)
    events = await reader.events(
        db,
        mapper,
        after=position,
        upto=upto,
        limit=BATCH_EVENTS_MAX,
        topics=projector.topics,
    )
    if len(events) == BATCH_EVENTS_MAX:
        upto = events[-1].position
    if events:
        await db.execute(SQL("SET LOCAL search_path = {}").format(schema))
        await projector.project(db, events)
    return upto


async def _switch(
    db: AsyncConnection[Any],
    mapper: EventMapper,
    projector: Projector,
    position: int,
) -> int:
    place = await (await db.execute(LOCK_PLACE, [projector.name])).fetchone()
    # With the same definition both generations stop at the same event, so that
    # they can be compared; a new definition goes to the end of the log.
    same = place is not None and place[1] == projector.definition
    target = place[0] if place and same else (await reader.head(db))[0]
    while position < target:
        position = await _fill(db, mapper, projector, position, target)
    schema = f"rebuild_{projector.name}"
    tables = [row[0] for row in await (await db.execute(TABLES, [schema])).fetchall()]
    for table in tables:
        if same and position == target:
            await _compare(db, schema, table)
        await db.execute(
            SQL("DROP TABLE IF EXISTS read.{} CASCADE").format(Identifier(table))
        )
        await db.execute(
            SQL("ALTER TABLE {} SET SCHEMA read").format(Identifier(schema, table))
        )
    await db.execute(SQL("DROP SCHEMA {} CASCADE").format(Identifier(schema)))
    await db.execute(PLACE, [projector.name, position, projector.definition])
    return position


async def _compare(db: AsyncConnection[Any], schema: str, table: str) -> None:
    difference = await compare(db, table, f"read.{table}", f"{schema}.{table}")
    if difference.only_before or difference.only_rebuilt:
        logger.warning(
            "the rebuilt table differs from the one before",
            extra={
                "table": table,
                "only_before": difference.only_before,
                "only_rebuilt": difference.only_rebuilt,
            },
        )


async def compare(
    db: AsyncConnection[Any], table: str, before: str, rebuilt: str
) -> Difference:
    """Count the rows that only one of two tables of the same columns has."""
    row = await (await db.execute(LIVE_TABLE, [before])).fetchone()
    if row is None or row[0] is None:
        return Difference(table, 0, 0)
    columns = SQL(", ").join(map(Identifier, row[0]))
    counts = []
    for first, second in ((before, rebuilt), (rebuilt, before)):
        cursor = await db.execute(
            SQL(
                "SELECT count(*) FROM (SELECT {0} FROM {1} "
                "EXCEPT ALL SELECT {0} FROM {2}) AS odd"
            ).format(
                columns, Identifier(*first.split(".")), Identifier(*second.split("."))
            )
        )
        found = await cursor.fetchone()
        counts.append(found[0] if found else 0)
    return Difference(table, counts[0], counts[1])
