"""The relay's row among the followers' positions, and the lock of the active relay.

The position that counts is in Kafka. This copy serves people and probes, and it alone
can tell an event topic that was recreated from one that was never used.
"""

from typing import Final
from uuid import UUID

from projections.relay.messages import event_id_of
from service.database import TRY_ADVISORY_LOCK, Db

FOLLOWER: Final = "relay"
HEAD = "SELECT log_id, epoch, position FROM events.head"
HEAD_AND_EVENT = """
    SELECT h.epoch, h.position, e.topic, e.originator_id, e.originator_version,
           e.command_id
      FROM events.head h
      LEFT JOIN events.stored_event e ON e.notification_id = %s
"""
READ = """
    SELECT position FROM read.position
     WHERE follower = %(follower)s AND epoch = %(epoch)s
       AND definition = %(definition)s
"""
RESET = """
    INSERT INTO read.position (follower, position, epoch, definition)
    VALUES (%(follower)s, 0, %(epoch)s, %(definition)s)
    ON CONFLICT (follower) DO UPDATE
       SET position = 0, epoch = excluded.epoch, definition = excluded.definition,
           reason = NULL, moved_at = now()
"""
# Forwards only: a relay that was paused and replaced may still report.
ADVANCE = """
    UPDATE read.position
       SET position = greatest(position, %(position)s), reason = NULL, moved_at = now()
     WHERE follower = %(follower)s AND epoch = %(epoch)s
       AND definition = %(definition)s
"""
SET_STOPPED = """
    UPDATE read.position SET reason = %(reason)s
     WHERE follower = %(follower)s AND epoch = %(epoch)s
       AND definition = %(definition)s
"""
RECORDED_AT = """
    SELECT extract(epoch FROM recorded_at)::float8
      FROM events.stored_event WHERE notification_id = %s
"""


class RelayPosition:
    """The last position of one epoch that is known to be published on one topic."""

    def __init__(self, db: Db, topic: str, epoch: UUID) -> None:
        self._db = db
        self._row = {
            "follower": FOLLOWER,
            "epoch": epoch,
            "definition": f"kafka topic {topic}",
        }

    async def read(self) -> int:
        """Return the stored position; reset it to 0 for another topic or epoch."""
        row = await (await self._db.execute(READ, self._row)).fetchone()
        if row is None:
            await self._db.execute(RESET, self._row)
            return 0
        return int(row[0])

    async def advance(self, position: int) -> None:
        await self._db.execute(ADVANCE, {**self._row, "position": position})

    async def set_stopped(self, reason: str) -> None:
        await self._db.execute(SET_STOPPED, {**self._row, "reason": reason})


async def is_leader(db: Db) -> bool:
    """Take the active relay's lock, which lasts as long as the connection."""
    return await try_lock(db, f"agent-runtime follower {FOLLOWER}")


async def try_lock(db: Db, name: str) -> bool:
    row = await (await db.execute(TRY_ADVISORY_LOCK, [name])).fetchone()
    return bool(row and row[0])


async def log_head(db: Db) -> tuple[UUID, UUID, int]:
    """Return (log id, epoch, position of the last event)."""
    row = await (await db.execute(HEAD)).fetchone()
    assert row is not None
    return row[0], row[1], row[2]


async def head_and_event_id(db: Db, position: int) -> tuple[UUID, int, str | None]:
    """Return (epoch, position of the last event, message id of a position's event)."""
    row = await (await db.execute(HEAD_AND_EVENT, [position])).fetchone()
    assert row is not None
    epoch, head, *event = row
    return epoch, head, event_id_of(*event) if event[0] is not None else None


async def recorded_at(db: Db, position: int) -> float | None:
    """Return when an event was recorded, in Unix seconds; None without such event."""
    row = await (await db.execute(RECORDED_AT, [position])).fetchone()
    return row[0] if row else None
