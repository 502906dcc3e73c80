"""The relay's row among the followers' positions.

Kafka itself holds the position that counts. This one is for people, probes and the
one question that Kafka can't answer: whether a topic that is empty always was.
"""

from typing import Any, Final
from uuid import UUID

from psycopg import AsyncConnection

FOLLOWER: Final = "relay"
LOCK = "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))"
IDENTITY = "SELECT log_id, epoch, position FROM events.head"
PLACE = """
    SELECT position FROM read.position
     WHERE follower = %(follower)s AND epoch = %(epoch)s
       AND definition = %(definition)s
"""
TAKE = """
    INSERT INTO read.position (follower, position, epoch, definition)
    VALUES (%(follower)s, 0, %(epoch)s, %(definition)s)
    ON CONFLICT (follower) DO UPDATE
       SET position = 0, epoch = excluded.epoch, definition = excluded.definition,
           reason = NULL, moved_at = now()
"""
# Forwards only: a relay that was paused and replaced may still report.
MOVE = """
    UPDATE read.position
       SET position = greatest(position, %(position)s), reason = NULL, moved_at = now()
     WHERE follower = %(follower)s AND epoch = %(epoch)s
       AND definition = %(definition)s
"""
STOP = """
    UPDATE read.position SET reason = %(reason)s
     WHERE follower = %(follower)s AND epoch = %(epoch)s
       AND definition = %(definition)s
"""
RECORDED_AT = """
    SELECT extract(epoch FROM recorded_at)::float8
      FROM events.stored_event WHERE notification_id = %s
"""


class Place:
    """How far one log is known to be published on one topic."""

    def __init__(self, db: AsyncConnection[Any], topic: str, epoch: UUID) -> None:
        self._db = db
        self._named = {
            "follower": FOLLOWER,
            "epoch": epoch,
            "definition": f"kafka topic {topic}",
        }

    async def take(self) -> int:
        """Return the position remembered, 0 for another topic or epoch than last."""
        row = await (await self._db.execute(PLACE, self._named)).fetchone()
        if row is None:
            await self._db.execute(TAKE, self._named)
            return 0
        return int(row[0])

    async def move(self, position: int) -> None:
        await self._db.execute(MOVE, {**self._named, "position": position})

    async def stop(self, reason: str) -> None:
        await self._db.execute(STOP, {**self._named, "reason": reason})


async def is_locked(db: AsyncConnection[Any]) -> bool:
    """Take the lock of the one active relay, for as long as the connection lives."""
    row = await (
        await db.execute(LOCK, [f"agent-runtime follower {FOLLOWER}"])
    ).fetchone()
    return bool(row and row[0])


async def identify(db: AsyncConnection[Any]) -> tuple[UUID, UUID, int]:
    """Return (log id, epoch, position of the head)."""
    row = await (await db.execute(IDENTITY)).fetchone()
    assert row is not None
    return row[0], row[1], row[2]


async def recorded_at(db: AsyncConnection[Any], position: int) -> float | None:
    """Return when an event was recorded, in seconds since 1970; None if it wasn't."""
    row = await (await db.execute(RECORDED_AT, [position])).fetchone()
    return row[0] if row else None
