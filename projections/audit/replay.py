"""Replay the log up to a position into read tables of their own."""

from collections.abc import Callable
from typing import Final

from psycopg.errors import DuplicateSchema
from psycopg.sql import SQL, Identifier

from projections.agents.projector import AgentsProjector
from projections.connectors.projector import ConnectorsProjector
from projections.engine.projector import Projector
from projections.engine.rebuild import create_indexes, create_tables
from projections.gateway.projector import GatewayProjector
from projections.price_catalog.projector import ProviderCatalogProjector
from projections.secrets.projector import SecretsProjector
from projections.sessions.projector import SessionsProjector
from projections.tool_rules.projector import ToolRulesProjector
from projections.usage.projector import UsageProjector
from projections.users.projector import UsersProjector
from service.database import Db
from service.errors import ConflictError
from service.event_log import reader
from service.event_log.mapper import EventMapper

# What the service's state is read from. Not the trail and the tree, which are the
# log itself; and nothing is destroyed a second time.
REPLAYED: Final[tuple[Projector, ...]] = (
    AgentsProjector(),
    ConnectorsProjector(),
    GatewayProjector(),
    ProviderCatalogProjector(),
    SecretsProjector(),
    SessionsProjector(),
    ToolRulesProjector(),
    UsageProjector(),
    UsersProjector(),
)
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
    *,
    position: int,
    schema: str,
    progress: Progress,
) -> None:
    """Build the read tables as of a position in a schema that doesn't exist yet.

    Reads from ``source``, which may be a replica, and writes to ``target`` only in
    that schema. Its table ``replayed`` is filled last: a schema where it is empty is
    not complete.

    :raises ConflictError: there is such a schema
    """
    _, epoch = await reader.head(source)
    await _create(target, schema)
    reached = 0
    while reached < position:
        reached = await _batch(source, target, mapper, schema, reached, position)
        progress(reached, position)
    async with target.transaction():
        await _enter(target, schema)
        await target.execute(REPLAYED_UP_TO, [position, epoch])


async def _create(target: Db, schema: str) -> None:
    try:
        async with target.transaction():
            await target.execute(SQL("CREATE SCHEMA {}").format(Identifier(schema)))
            for projector in REPLAYED:
                await create_tables(target, projector, schema)
                await create_indexes(target, projector, schema)
            await target.execute(MOMENT_TABLE)
    except DuplicateSchema:
        raise ConflictError(f"there is a schema {schema}") from None


async def _batch(
    source: Db,
    target: Db,
    mapper: EventMapper,
    schema: str,
    after: int,
    upto: int,
) -> int:
    """Apply some events to all tables and return the position reached."""
    topics = sorted({topic for each in REPLAYED for topic in each.topics})
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
        for projector in REPLAYED:
            wanted = set(projector.topics)
            of_projector = [event for event in events if event.topic in wanted]
            if of_projector:
                await projector.project(target, of_projector)
    return events[-1].position if len(events) == BATCH_EVENTS else upto


async def _enter(target: Db, schema: str) -> None:
    await target.execute(SQL("SET LOCAL search_path = {}").format(Identifier(schema)))
