"""A consumer with a table of its own: the connectors that everyone may use.

    python docs/examples/public_connectors.py localhost:9092 postgresql:///mine

Stopped or killed at any moment, it continues where its table is.
"""

import asyncio
import sys
from typing import Any

from psycopg import AsyncConnection

from agent_runtime_client.kafka import Event, EventConsumer, consume
from agent_runtime_client.kafka.event_types import (
    ConnectorMadePrivateV1,
    ConnectorMadePublicV1,
    ConnectorRegisteredV1,
    ConnectorRetiredV1,
)
from agent_runtime_client.kafka.positions import (
    create_table,
    read_positions,
    store_position,
)

CONSUMER = "public_connectors"
TABLE = """
    CREATE TABLE IF NOT EXISTS connector (
        id        uuid    PRIMARY KEY,
        name      text    NOT NULL,
        is_public boolean NOT NULL DEFAULT false
    )
"""
REGISTER = "INSERT INTO connector (id, name) VALUES (%s, %s)"
SHARE = "UPDATE connector SET is_public = %s WHERE id = %s"
FORGET = "DELETE FROM connector WHERE id = %s"


async def follow(bootstrap: str, topic: str, db: AsyncConnection[Any]) -> None:
    """Keep the table up to the topic, without an end."""
    await db.execute(TABLE)
    await create_table(db)
    positions = await read_positions(db, CONSUMER)
    async with consume(bootstrap, topic, positions) as events:
        await apply_all(events, db)


async def apply_all(events: EventConsumer, db: AsyncConnection[Any]) -> None:
    async for event in events:
        # The position and the effect together: so each happens once. The position
        # first: a second instance is refused before it has done anything.
        async with db.transaction():
            await store_position(db, CONSUMER, event.stored)
            await apply(event, db)


async def apply(event: Event, db: AsyncConnection[Any]) -> None:
    match event.data:
        case ConnectorRegisteredV1(name=name):
            await db.execute(REGISTER, [event.aggregate_id, name])
        case ConnectorMadePublicV1():
            await db.execute(SHARE, [True, event.aggregate_id])
        case ConnectorMadePrivateV1():
            await db.execute(SHARE, [False, event.aggregate_id])
        case ConnectorRetiredV1():
            await db.execute(FORGET, [event.aggregate_id])
        case _:
            pass  # of no interest here; its position is stored all the same


async def main(bootstrap: str, database_url: str) -> None:
    async with await AsyncConnection.connect(database_url, autocommit=True) as db:
        await follow(bootstrap, "agent-runtime.events", db)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
