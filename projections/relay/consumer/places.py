"""Keeping one's place in one's own PostgreSQL, in the transaction of the effect."""

from typing import Any, Final

from psycopg import AsyncConnection

from projections.relay.consumer.event import Place

TABLE: Final = """
    CREATE TABLE IF NOT EXISTS event_place (
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
      FROM event_place
     WHERE consumer = %s
"""
KEEP: Final = """
    INSERT INTO event_place AS kept (
           consumer, partition, position, kafka_offset, event_id)
    VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT (consumer, partition) DO UPDATE
       SET position = excluded.position,
           kafka_offset = excluded.kafka_offset,
           event_id = excluded.event_id
     WHERE kept.position < excluded.position
"""


class TakenPlaceError(Exception):
    """Another instance of this consumer has dealt with the event; roll back."""


async def create_table(db: AsyncConnection[Any]) -> None:
    await db.execute(TABLE)


async def read_places(db: AsyncConnection[Any], consumer: str) -> list[Place]:
    """Return the places of a consumer; none for one that is new."""
    cursor = await db.execute(READ, [consumer])
    return [
        Place(partition=partition, position=position, offset=offset, event_id=event_id)
        for partition, position, offset, event_id in await cursor.fetchall()
    ]


async def keep_place(db: AsyncConnection[Any], consumer: str, place: Place) -> None:
    """Move on; in a transaction with the effect, which then happens exactly once.

    :raises TakenPlaceError: the place was moved beyond the event meanwhile
    """
    cursor = await db.execute(
        KEEP,
        [consumer, place.partition, place.position, place.offset, place.event_id],
    )
    if not cursor.rowcount:
        raise TakenPlaceError(f"position {place.position} was dealt with before")
