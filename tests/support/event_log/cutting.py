"""Cutting the end of the log off, as the owner of the database can."""

from typing import Any

from psycopg import AsyncConnection

CUT = (
    "ALTER TABLE events.stored_event DISABLE TRIGGER append_only",
    "DELETE FROM events.stored_event WHERE notification_id > %(position)s",
    "ALTER TABLE events.stored_event ENABLE TRIGGER append_only",
    "DELETE FROM events.receipt WHERE position > %(position)s",
    "UPDATE events.head SET position = %(position)s",
)


async def cut(owner: AsyncConnection[Any], position: int) -> None:
    """Delete all events after a position and move the head back, in the same epoch."""
    async with owner.transaction():
        for statement in CUT:
            await owner.execute(statement, {"position": position})
