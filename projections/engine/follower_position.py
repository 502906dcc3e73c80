"""Where a follower stands in the log, kept beside what it has applied."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self
from uuid import UUID

from psycopg import AsyncConnection

from projections.engine.projector import Projector

# One look must not read an unbounded stretch of a log that says nothing to somebody.
SCAN_POSITIONS_MAX = 50_000

FIND = "SELECT position, epoch, definition FROM read.position WHERE follower = %s"
BEGIN = """
    INSERT INTO read.position (follower, position, epoch, definition)
    VALUES (%s, 0, %s, %s)
"""
# Most of what is appended concerns few projectors: the others move by this alone.
SKIP = """
    WITH log AS (
        SELECT position AS head, epoch, least(position, %(upto_max)s) AS upto
          FROM events.head),
    skipped AS (
        UPDATE read.position place
           SET position = log.upto, reason = NULL, moved_at = now()
          FROM log
         WHERE place.follower = %(follower)s
           AND place.position = %(position)s AND log.upto > %(position)s
           AND place.epoch = %(epoch)s AND log.epoch = %(epoch)s
           AND place.definition = %(definition)s
           AND NOT EXISTS (
               SELECT FROM events.stored_event
                WHERE notification_id > %(position)s AND notification_id <= log.upto
                  AND (%(topics)s::text[] IS NULL OR topic = ANY (%(topics)s)))
        RETURNING place.position)
    SELECT head, epoch, upto, EXISTS (SELECT FROM skipped) FROM log
"""
MOVE = """
    UPDATE read.position SET position = %s, reason = NULL, moved_at = now()
     WHERE follower = %s AND position = %s AND epoch = %s AND definition = %s
"""
STOP = """
    UPDATE read.position SET reason = %s WHERE follower = %s AND position = %s
"""


class ReplacedError(Exception):
    """Another instance has taken this follower's place, or the log is another."""


class Look(NamedTuple):
    """The log's head and epoch, how far to look now, and whether that was skipped."""

    head: int
    epoch: UUID
    upto: int
    is_skipped: bool


@dataclass(frozen=True, slots=True)
class Place:
    """The place of one follower, on one log, with tables of one meaning.

    It moves only from where its follower knows it to be: whoever was paused and
    replaced can't move it.
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

    async def position(self, db: AsyncConnection[Any]) -> tuple[int | None, bool]:
        """Return the position, None without one, and whether the tables are these."""
        row = await (await db.execute(FIND, [self.follower])).fetchone()
        if row is None:
            return None, False
        return row[0], row[1:] == (self.epoch, self.definition)

    async def begin(self, db: AsyncConnection[Any]) -> None:
        await db.execute(BEGIN, [self.follower, self.epoch, self.definition])

    async def skip(self, db: AsyncConnection[Any], position: int) -> Look:
        """Look at the log, and move on over what has nothing for this follower."""
        cursor = await db.execute(
            SKIP,
            {
                "follower": self.follower,
                "position": position,
                "upto_max": position + SCAN_POSITIONS_MAX,
                "epoch": self.epoch,
                "definition": self.definition,
                "topics": self.topics,
            },
            prepare=True,
        )
        row = await cursor.fetchone()
        assert row is not None
        return Look(*row)

    async def move(self, db: AsyncConnection[Any], position: int, upto: int) -> None:
        """Move, and keep everybody else from it until the transaction ends.

        :raises ReplacedError: it isn't where it was
        """
        move = [upto, self.follower, position, self.epoch, self.definition]
        if (await db.execute(MOVE, move, prepare=True)).rowcount != 1:
            raise ReplacedError("the place is another instance's")


async def record_stop(
    db: AsyncConnection[Any], follower: str, position: int, reason: str | None
) -> None:
    """Keep why a follower can't go on from a position, for whoever looks at it."""
    await db.execute(STOP, [reason, follower, position])
