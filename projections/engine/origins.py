"""The events that something dates from, each with its author and time."""

from collections.abc import Iterable
from datetime import datetime

from typing_extensions import TypedDict

from service.database import Db

AT_POSITIONS = """
    SELECT notification_id, recorded_at, topic, metadata->>'actor'
      FROM events.stored_event
     WHERE notification_id = ANY (%s)
"""


class Origin(TypedDict):
    """The event that caused something, its author and its time.

    ``actor`` is a user's id, or ``system``.
    """

    position: int
    recorded_at: datetime
    kind: str
    actor: str | None


async def origins_at(db: Db, positions: Iterable[int | None]) -> dict[int, Origin]:
    """Return the origins at some positions; None is left out."""
    wanted = sorted({each for each in positions if each is not None})
    cursor = await db.execute(AT_POSITIONS, [wanted])
    return {
        position: Origin(
            position=position, recorded_at=recorded_at, kind=topic, actor=actor
        )
        for position, recorded_at, topic, actor in await cursor.fetchall()
    }
