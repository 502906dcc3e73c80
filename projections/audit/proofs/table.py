"""The tree's table: growing it, reading it, and comparing the log with it."""

from collections.abc import Sequence
from dataclasses import dataclass

from projections.audit.proofs.merkle import Node
from service.database import Db

POSITIONS = """
    SELECT notification_id, topic
      FROM events.stored_event
     WHERE notification_id > %(after)s AND notification_id <= %(upto)s
     ORDER BY notification_id
     LIMIT %(limit)s
"""
GROW = "SELECT events.grow_tree(%s)"
HASHES = """
    SELECT level::int, number, hash
      FROM unnest(%b::int[], %b::bigint[]) AS given (level, number)
      JOIN events.merkle_node USING (level, number)
"""


@dataclass(frozen=True, slots=True)
class LoggedPosition:
    """A position that the log has, and the topic of its event."""

    position: int
    topic: str


class IncompleteTreeError(Exception):
    """The tree's table lacks a hash."""


async def positions_between(
    db: Db, *, after: int, upto: int, limit: int
) -> list[LoggedPosition]:
    """Return the positions ``after < p <= upto`` of the log, in order."""
    cursor = await db.execute(
        POSITIONS, {"after": after, "upto": upto, "limit": limit}, binary=True
    )
    return [LoggedPosition(*row) for row in await cursor.fetchall()]


async def grow_tree(db: Db, *, upto: int) -> None:
    """Have the database add the log's entries up to a position to the tree."""
    await db.execute(GROW, [upto])


async def known_hashes(db: Db, nodes: Sequence[Node]) -> dict[Node, bytes]:
    """Return the hashes of those of some full subtrees that the tree has."""
    levels = [node.level for node in nodes]
    numbers = [node.number for node in nodes]
    cursor = await db.execute(HASHES, [levels, numbers], binary=True)
    return {
        Node(level, number): hash_ for level, number, hash_ in await cursor.fetchall()
    }


async def stored_hashes(db: Db, nodes: Sequence[Node]) -> dict[Node, bytes]:
    """Return the hashes of some full subtrees.

    :raises IncompleteTreeError: one isn't there
    """
    found = await known_hashes(db, nodes)
    missing = len({*nodes} - found.keys())
    if missing:
        raise IncompleteTreeError(f"{missing} hashes are missing")
    return found
