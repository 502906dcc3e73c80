"""Find where the log and its Merkle tree contradict each other."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple
from uuid import UUID

from service.database import Db

What = Literal["missing", "changed", "tree", "outside", "cut"]

SHOWN_MAX: Final = 10
WORDS: Final = {
    "missing": "missing from the log",
    "changed": "changed in the log",
    "tree": "changed in the tree",
    "outside": "outside the log",
    "cut": "deleted from the tree",
}
TREE = """
    SELECT t.epoch, t.size, h.position
      FROM events.merkle_tree t JOIN events.head h ON h.epoch = t.epoch
     UNION ALL
    SELECT h.epoch, 0, h.position
      FROM events.merkle_tree t JOIN events.head h ON h.epoch <> t.epoch
"""
# Events outside 1 to the log's end take effect, as aggregates are loaded by their id.
# One statement sees the head and the events as the same commit left them.
CONTRADICTIONS = """
    SELECT what, first_position, last_position
      FROM events.contradictions(%s, %s)
     UNION ALL
    SELECT 'outside', min(notification_id), max(notification_id)
      FROM events.stored_event
     WHERE notification_id < 1
    HAVING min(notification_id) IS NOT NULL
     UNION ALL
    SELECT 'outside', min(notification_id), max(notification_id)
      FROM events.stored_event
     WHERE notification_id > (SELECT position FROM events.head)
    HAVING min(notification_id) IS NOT NULL
     ORDER BY first_position, last_position
"""
# The follower's position and the tree's size move in one transaction.
ENDS = """
    WITH newest AS (
        SELECT coalesce(max(notification_id), 0) AS position FROM events.stored_event
    )
    SELECT 'missing', newest.position + 1, h.position
      FROM events.head h, newest
     WHERE newest.position < h.position
     UNION ALL
    SELECT 'cut', t.size + 1, least(p.position, newest.position)
      FROM newest, events.merkle_tree t
      JOIN read.position p ON p.follower = 'merkle_tree' AND p.epoch = t.epoch
     WHERE t.size < least(p.position, newest.position)
"""
KNOWN = """
    SELECT contradiction
      FROM read.log_check JOIN events.head USING (epoch)
     WHERE contradiction IS NOT NULL
"""


class Contradiction(NamedTuple):
    """Positions whose events or hashes are not those that the tree was built over.

    ``tree``: a hash of the tree over these positions isn't that of its parts.
    ``outside``: the first and last event before position 1, or after the log's end.
    ``cut``: the tree had grown over these positions, and ends before them.
    """

    what: What
    first: int
    last: int


class Tree(NamedTuple):
    """The tree of the log's epoch: its size, and the log's last position."""

    epoch: UUID
    size: int
    head: int


async def tree_of(db: Db) -> Tree:
    """Return the size of the tree; 0 before it has been begun in this epoch."""
    row = await (await db.execute(TREE)).fetchone()
    assert row is not None
    return Tree(*row)


async def contradictions_between(
    db: Db, *, after: int, upto: int
) -> list[Contradiction]:
    """Hash the events at ``after < p <= upto`` again, and compare them with the tree.

    In the database. The tree has to reach ``upto``. Events at no position of the log
    are found whatever is asked for.
    """
    cursor = await db.execute(CONTRADICTIONS, [after, upto])
    return [Contradiction(*row) for row in await cursor.fetchall()]


async def ends_apart(db: Db) -> list[Contradiction]:
    """Find a log that ends before its head says, and a tree that became shorter."""
    cursor = await db.execute(ENDS)
    return [Contradiction(*row) for row in await cursor.fetchall()]


async def known_contradiction(db: Db) -> str | None:
    """Return what the background check has found; None for nothing."""
    row = await (await db.execute(KNOWN)).fetchone()
    return row[0] if row else None


def described(found: Sequence[Contradiction]) -> str:
    """Name the positions, the first ones if there are many.

    >>> described([Contradiction("changed", 5, 5), Contradiction("changed", 6, 6)])
    'positions 5 to 6 changed in the log'
    """
    merged: list[Contradiction] = []
    for each in sorted(found, key=lambda each: (each.what, each.first)):
        last = merged[-1] if merged else None
        if last and last.what == each.what and each.first <= last.last + 1:
            merged[-1] = last._replace(last=max(last.last, each.last))
        else:
            merged.append(each)
    shown = [
        f"position{'s' * (first != last)} {first}"
        f"{f' to {last}' * (first != last)} {WORDS[what]}"
        for what, first, last in merged[:SHOWN_MAX]
    ]
    more = len(merged) - len(shown)
    return "; ".join([*shown, *([f"and {more} more ranges"] if more else [])])
