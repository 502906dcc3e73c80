"""A follower's last applied position, saved in the same transaction as its rows."""

from dataclasses import dataclass
from typing import NamedTuple, Self
from uuid import UUID

from projections.engine.projector import Projector
from service.database import Db

# Bounds one scan over events that don't concern the follower.
SCAN_POSITIONS_MAX = 50_000

FIND = "SELECT position, epoch, definition FROM read.position WHERE follower = %s"
PROGRESS = """
    SELECT coalesce(p.position, 0), h.position
      FROM events.head h LEFT JOIN read.position p ON p.follower = %s
"""
BEGIN = """
    INSERT INTO read.position (follower, position, epoch, definition)
    VALUES (%s, 0, %s, %s)
"""
# Most events concern few projectors: for the others this statement is all.
SKIP = """
    WITH log AS (
        SELECT position AS head, epoch, least(position, %(upto_max)s) AS upto
          FROM events.head),
    rewritten AS (
        SELECT FROM read.position saved
         WHERE saved.follower = %(follower)s AND saved.command_id IS NOT NULL
           AND NOT EXISTS (
               SELECT FROM events.stored_event
                WHERE notification_id = saved.position
                  AND command_id = saved.command_id)),
    skipped AS (
        UPDATE read.position saved
           SET position = log.upto, reason = NULL, moved_at = now(),
               command_id = (SELECT command_id FROM events.stored_event
                              WHERE notification_id = log.upto)
          FROM log
         WHERE saved.follower = %(follower)s AND NOT EXISTS (SELECT FROM rewritten)
           AND saved.position = %(position)s AND log.upto > %(position)s
           AND saved.epoch = %(epoch)s AND log.epoch = %(epoch)s
           AND saved.definition = %(definition)s
           AND NOT EXISTS (
               SELECT FROM events.stored_event
                WHERE notification_id > %(position)s AND notification_id <= log.upto
                  AND (%(topics)s::text[] IS NULL OR topic = ANY (%(topics)s)))
        RETURNING saved.position)
    SELECT head, epoch, upto, EXISTS (SELECT FROM skipped),
           EXISTS (SELECT FROM rewritten)
      FROM log
"""
ADVANCE = """
    UPDATE read.position
       SET position = %(upto)s, reason = NULL, moved_at = now(),
           command_id = (SELECT command_id FROM events.stored_event
                          WHERE notification_id = %(upto)s)
     WHERE follower = %(follower)s AND position = %(position)s
       AND epoch = %(epoch)s AND definition = %(definition)s
"""
STOP = """
    UPDATE read.position SET reason = %s WHERE follower = %s AND position = %s
"""


class ReplacedError(Exception):
    """Another instance has taken over this follower, or the log has a new epoch."""


class Scan(NamedTuple):
    """The log's head and epoch, where this scan ends, and whether all was skipped.

    ``is_rewritten``: at the saved position the log has another event than the one that
    was applied, or none.
    """

    head: int
    epoch: UUID
    upto: int
    is_skipped: bool
    is_rewritten: bool


@dataclass(frozen=True, slots=True)
class FollowerPosition:
    """The saved position of one follower, in one epoch, for one definition of tables.

    It advances by compare-and-set: an instance that was paused and replaced can't
    advance it.
    """

    follower: str
    epoch: UUID
    definition: str
    topics: list[str] | None

    @classmethod
    def of(cls, projector: Projector, epoch: UUID) -> Self:
        return cls(
            projector.name, epoch, projector.definition, projector.topics or None
        )

    async def position(self, db: Db) -> tuple[int | None, bool]:
        """Return the position, or None, and whether epoch and definition are these."""
        row = await (await db.execute(FIND, [self.follower])).fetchone()
        if row is None:
            return None, False
        return row[0], row[1:] == (self.epoch, self.definition)

    async def begin(self, db: Db) -> None:
        await db.execute(BEGIN, [self.follower, self.epoch, self.definition])

    async def skip(self, db: Db, position: int, durable: int) -> Scan:
        """Scan the durable log, and advance if nothing in it concerns this follower."""
        cursor = await db.execute(
            SKIP,
            {
                "follower": self.follower,
                "position": position,
                "upto_max": max(min(position + SCAN_POSITIONS_MAX, durable), position),
                "epoch": self.epoch,
                "definition": self.definition,
                "topics": self.topics,
            },
            prepare=True,
        )
        row = await cursor.fetchone()
        assert row is not None
        return Scan(*row)

    async def advance(self, db: Db, position: int, upto: int) -> None:
        """Advance, and lock the position until the transaction ends.

        :raises ReplacedError: the saved position is no longer ``position``
        """
        advance = {
            "upto": upto,
            "follower": self.follower,
            "position": position,
            "epoch": self.epoch,
            "definition": self.definition,
        }
        if (await db.execute(ADVANCE, advance, prepare=True)).rowcount != 1:
            raise ReplacedError("another instance has advanced the position")


async def saved_progress(db: Db, follower: str) -> tuple[int, int]:
    """Return how far a follower is, whoever runs it, and the log's last position."""
    row = await (await db.execute(PROGRESS, [follower], prepare=True)).fetchone()
    assert row is not None
    return row[0], row[1]


async def record_stop(db: Db, follower: str, position: int, reason: str | None) -> None:
    """Save why a follower stopped at a position, for ``/readyz``."""
    await db.execute(STOP, [reason, follower, position])
