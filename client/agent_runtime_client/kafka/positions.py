"""Stores positions in the consumer's own PostgreSQL, with the effect of an event."""

from typing import Any, Final

from psycopg import AsyncConnection

from agent_runtime_client.kafka.errors import AlreadyProcessedError
from agent_runtime_client.kafka.event import StoredPosition

TABLE: Final = """
    CREATE TABLE IF NOT EXISTS event_position (
        consumer     text   NOT NULL,
        partition    int    NOT NULL,
        position     bigint NOT NULL,
        kafka_offset bigint,
        event_id     text,
        PRIMARY KEY (consumer, partition)
    )
"""
READ: Final = """
    SELECT partition, position, kafka_offset, event_id
      FROM event_position
     WHERE consumer = %s
"""
STORE: Final = """
    INSERT INTO event_position AS kept (
           consumer, partition, position, kafka_offset, event_id)
    VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT (consumer, partition) DO UPDATE
       SET position = excluded.position,
           kafka_offset = excluded.kafka_offset,
           event_id = excluded.event_id
     WHERE kept.position < excluded.position
"""


async def create_table(db: AsyncConnection[Any]) -> None:
    await db.execute(TABLE)


async def read_positions(
    db: AsyncConnection[Any], consumer: str
) -> list[StoredPosition]:
    """Return the positions of a consumer; none for one that is new."""
    cursor = await db.execute(READ, [consumer])
    return [
        StoredPosition(
            partition=partition, position=position, offset=offset, event_id=event_id
        )
        for partition, position, offset, event_id in await cursor.fetchall()
    ]


async def store_position(
    db: AsyncConnection[Any], consumer: str, stored: StoredPosition
) -> None:
    """Store a position; in a transaction with the effect, which happens exactly once.

    :raises AlreadyProcessedError: another instance has stored this or a later position
    """
    cursor = await db.execute(
        STORE,
        [consumer, stored.partition, stored.position, stored.offset, stored.event_id],
    )
    if not cursor.rowcount:
        raise AlreadyProcessedError(f"position {stored.position} was processed before")
