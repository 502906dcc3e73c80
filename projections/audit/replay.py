"""Replay the log up to a position into read tables of their own."""

from collections.abc import Callable, Sequence
from typing import Final

from psycopg.errors import DuplicateSchema
from psycopg.sql import SQL, Identifier

from projections.engine.projector import Projector
from projections.engine.rebuild import create_indexes, create_tables
from service.database import Db
from service.errors import ConflictError
from service.event_log import reader
from service.event_log.mapper import EventMapper

BATCH_EVENTS: Final = 2000
SCAN_POSITIONS: Final = 50_000
MOMENT_TABLE: Final = """
    CREATE TABLE replayed (
        position    bigint      NOT NULL,
        epoch       uuid        NOT NULL,
        replayed_at timestamptz NOT NULL DEFAULT now()
    )
"""
REPLAYED_UP_TO: Final = "INSERT INTO replayed (position, epoch) VALUES (%s, %s)"

Progress = Callable[[int, int], None]


async def replay(
    source: Db,
    target: Db,
    mapper: EventMapper,
    projectors: Sequence[Projector],
    *,
    position: int,
    schema: str,
    progress: Progress,
) -> None:
    """Build read tables as of a position in a schema that doesn't exist yet.

    Of all ``projectors`` but those of the log itself, and of what is destroyed, which
    is destroyed only once.

    Reads from ``source``, which may be a replica, and writes to ``target`` only in
    that schema. Its table ``replayed`` is filled last: a schema where it is empty is
    not complete.

    :raises ConflictError: there is such a schema
    """
    projectors = [each for each in projectors if each.replayed]
    _, epoch = await reader.head(source)
    await _create(target, projectors, schema)
    reached = 0
    while reached < position:
        reached = await _batch(
            source, target, mapper, projectors, schema, reached, position
        )
        progress(reached, position)
    async with target.transaction():
        await _enter(target, schema)
        await target.execute(REPLAYED_UP_TO, [position, epoch])


async def _create(target: Db, projectors: Sequence[Projector], schema: str) -> None:
    try:
        async with target.transaction():
            await target.execute(SQL("CREATE SCHEMA {}").format(Identifier(schema)))
            for projector in projectors:
                await create_tables(target, projector, schema)
                await create_indexes(target, projector, schema)
            await target.execute(MOMENT_TABLE)
    except DuplicateSchema:
        raise ConflictError(f"there is a schema {schema}") from None


async def _batch(
    source: Db,
    target: Db,
    mapper: EventMapper,
    projectors: Sequence[Projector],
    schema: str,
    after: int,
    upto: int,
) -> int:
    """Apply some events to all tables and return the position reached."""
    topics = sorted({topic for each in projectors for topic in each.topics})
    upto = await reader.last_of_chunk(
        source,
        after=after,
        upto=min(upto, after + SCAN_POSITIONS),
        topics=topics,
        events_max=BATCH_EVENTS,
    )
    events = await reader.events(
        source, mapper, after=after, upto=upto, limit=BATCH_EVENTS, topics=topics
    )
    async with target.transaction():
        await _enter(target, schema)
        for projector in projectors:
            wanted = set(projector.topics)
            of_projector = [event for event in events if event.topic in wanted]
            if of_projector:
                await projector.project(target, of_projector)
    return events[-1].position if len(events) == BATCH_EVENTS else upto


async def _enter(target: Db, schema: str) -> None:
    await target.execute(SQL("SET LOCAL search_path = {}").format(Identifier(schema)))
