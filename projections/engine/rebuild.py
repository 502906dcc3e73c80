"""Rebuild a projector's tables beside the live ones, compare, and switch."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass

from psycopg.errors import LockNotAvailable
from psycopg.rows import TupleRow
from psycopg.sql import SQL, Identifier

from projections.engine.prefetch import Batch, batches_ahead, read_batch
from projections.engine.projector import Projector
from service.database import ADVISORY_LOCK, Db, connect
from service.event_log import reader
from service.event_log.durable import wait_for_standbys
from service.event_log.mapper import EventMapper

# The last events are applied while the live follower waits.
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
# Equal for equal tables; other rows make other sums, but for one chance in 2**64.
CHECKSUM = """
    SELECT count(*), sum(hash_record_extended(given, 0)::numeric)
      FROM (SELECT {} FROM {}) AS given
"""
LIVE_POSITION = (
    "SELECT position, epoch, definition FROM read.position WHERE follower = %s"
)
LOCK_LIVE_POSITION = f"{LIVE_POSITION} FOR UPDATE"
# Waits for running reads and blocks new ones: the timeout is short.
SWITCH_ALONE = """
    SET LOCAL lock_timeout = '500ms';
    LOCK TABLE read.generation IN ACCESS EXCLUSIVE MODE
"""
SWITCH_RETRY_S = 0.2
SWITCH_ATTEMPTS_MAX = 100
SAVE_POSITION = """
    INSERT INTO read.position (follower, position, epoch, definition, command_id)
    SELECT %(follower)s, %(position)s, h.epoch, %(definition)s, e.command_id
      FROM events.head h
      LEFT JOIN events.stored_event e ON e.notification_id = %(position)s
    ON CONFLICT (follower) DO UPDATE
       SET position = excluded.position, epoch = excluded.epoch,
           definition = excluded.definition, command_id = excluded.command_id,
           reason = NULL, moved_at = now()
"""

logger = logging.getLogger(__name__)
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class TableDifference:
    """Rows of a table that only one of both generations has; both 0 when equal."""

    table: str
    only_before: int
    only_rebuilt: int


async def create_tables(db: Db, projector: Projector, schema: str) -> None:
    """Create a projector's tables in a schema; expects a transaction around it."""
    await db.execute(SQL("SET LOCAL search_path = {}").format(Identifier(schema)))
    await db.execute(projector.table_sql)


async def create_indexes(db: Db, projector: Projector, schema: str) -> None:
    """Create what only reads need; expects a transaction around it."""
    if projector.indexes_sql:
        await db.execute(SQL("SET LOCAL search_path = {}").format(Identifier(schema)))
        await db.execute(projector.indexes_sql)


async def rebuild(
    conninfo: str,
    mapper: EventMapper,
    projector: Projector,
    progress: Progress | None = None,
) -> int:
    """Rebuild one projection and return the position that it reflects.

    Readers see the old tables until the switch, and the new ones after it. The
    live follower may run all the while; another rebuild of the same projection
    waits. Differences between both generations are logged: none are expected
    unless the projector's meaning changed. Uses two connections of ``conninfo``,
    which has to give a statement the time that a large index takes.

    :raises psycopg.errors.LockNotAvailable: reads never paused long enough for the
        switch; the old tables stay
    """
    async with await connect(conninfo) as db:
        # Until the connection ends.
        await db.execute(ADVISORY_LOCK, [f"agent-runtime rebuild {projector.name}"])
        return await _rebuild_alone(db, conninfo, mapper, projector, progress)


async def _rebuild_alone(
    db: Db,
    conninfo: str,
    mapper: EventMapper,
    projector: Projector,
    progress: Progress | None,
) -> int:
    def report(position: int, target: int) -> None:
        if progress:
            progress(position, target)

    name = f"rebuild_{projector.name}"
    schema = Identifier(name)
    await db.execute(SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(schema))
    await db.execute(SQL("CREATE SCHEMA {}").format(schema))
    async with db.transaction():
        await create_tables(db, projector, name)
    position = attempts = 0
    is_indexed = False
    while True:
        live = await (await db.execute(LIVE_POSITION, [projector.name])).fetchone()
        target, _ = await _target(db, projector, live)
        report(position, target)
        if target - position > SWITCH_LAG_MAX:
            ahead = batches_ahead(
                conninfo, mapper, projector, after=position, target=target
            )
            async with aclosing(ahead):
                async for batch in ahead:
                    async with db.transaction():
                        await _apply(db, projector, batch)
                    position = batch.upto
                    if position < target:
                        report(position, target)
            continue
        if not is_indexed:
            # Takes a while, in which the log may grow.
            async with db.transaction():
                await create_indexes(db, projector, name)
            is_indexed = True
            continue
        # A switch that waited for the standbys itself would keep reads waiting, too.
        await wait_for_standbys(db)
        try:
            async with db.transaction():
                return await _switch(db, mapper, projector, position, target)
        except LockNotAvailable:
            attempts += 1
            if attempts == SWITCH_ATTEMPTS_MAX:
                raise
            await asyncio.sleep(SWITCH_RETRY_S)


async def _target(
    db: Db, projector: Projector, live: TupleRow | None
) -> tuple[int, bool]:
    """Return where to stop, and whether the live tables mean the same there.

    With the same definition, and on the same log, both generations stop at the same
    event, so that they can be compared; otherwise the new one goes to the log's end.
    """
    head, epoch = await reader.head(db)
    if live is not None and live[1:] == (epoch, projector.definition):
        return live[0], True
    return head, False


async def _apply(db: Db, projector: Projector, batch: Batch) -> None:
    if batch.events:
        schema = Identifier(f"rebuild_{projector.name}")
        await db.execute(SQL("SET LOCAL search_path = {}").format(schema))
        await projector.project(db, batch.events)


async def _switch(
    db: Db,
    mapper: EventMapper,
    projector: Projector,
    position: int,
    durable: int,
) -> int:
    live = await (await db.execute(LOCK_LIVE_POSITION, [projector.name])).fetchone()
    target, comparable = await _target(db, projector, live)
    if not comparable:
        target = durable
    while position < target:
        batch = await read_batch(db, mapper, projector, after=position, target=target)
        await _apply(db, projector, batch)
        position = batch.upto
    schema = f"rebuild_{projector.name}"
    tables = [row[0] for row in await (await db.execute(TABLES, [schema])).fetchall()]
    if comparable:
        for table in tables:
            await _compare(db, schema, table)
    await db.execute(SWITCH_ALONE)
    for table in tables:
        await db.execute(
            SQL("DROP TABLE IF EXISTS read.{} CASCADE").format(Identifier(table))
        )
        await db.execute(
            SQL("ALTER TABLE {} SET SCHEMA read").format(Identifier(schema, table))
        )
    # Fails, and with it the switch, if there is anything but tables in it.
    await db.execute(SQL("DROP SCHEMA {}").format(Identifier(schema)))
    saved = {
        "follower": projector.name,
        "position": position,
        "definition": projector.definition,
    }
    await db.execute(SAVE_POSITION, saved)
    return position


async def _compare(db: Db, schema: str, table: str) -> None:
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


async def compare(db: Db, table: str, before: str, rebuilt: str) -> TableDifference:
    """Count the rows that only one of two tables of the same columns has."""
    row = await (await db.execute(LIVE_TABLE, [before])).fetchone()
    if row is None or row[0] is None:
        return TableDifference(table, 0, 0)
    columns = SQL(", ").join(map(Identifier, row[0]))
    sums = [
        await (
            await db.execute(
                SQL(CHECKSUM).format(columns, Identifier(*each.split(".")))
            )
        ).fetchone()
        for each in (before, rebuilt)
    ]
    if sums[0] == sums[1]:
        return TableDifference(table, 0, 0)
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
    return TableDifference(table, counts[0], counts[1])
