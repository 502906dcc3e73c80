"""Reads and writes of the tree's table, live or in a rebuild."""

from collections.abc import Sequence

from projections.audit.proofs.merkle import Leaves, Node, full_subtrees, stored_index
from service.database import Db

HASHES = "SELECT index, hash FROM merkle_hash WHERE index = ANY (%s)"
INSERT = """
    INSERT INTO merkle_hash (index, hash)
    SELECT * FROM unnest(%b::bigint[], %b::bytea[])
"""


class IncompleteTreeError(Exception):
    """The tree's table lacks a hash."""


async def stored_hashes(db: Db, nodes: Sequence[Node]) -> dict[Node, bytes]:
    """Return the hashes of some full subtrees.

    :raises IncompleteTreeError: one isn't there
    """
    wanted = {stored_index(node): node for node in nodes}
    cursor = await db.execute(HASHES, [list(wanted)], binary=True)
    found = {wanted[index]: hash_ for index, hash_ in await cursor.fetchall()}
    if len(found) < len(wanted):
        raise IncompleteTreeError(f"{len(wanted) - len(found)} hashes are missing")
    return found


async def subtrees_of(db: Db, size: int) -> list[bytes]:
    """Return the full subtrees of the tree of some size, largest first."""
    nodes = list(full_subtrees(Leaves(0, size)))
    hashes = await stored_hashes(db, nodes)
    return [hashes[node] for node in nodes]


async def add_hashes(db: Db, first_index: int, hashes: Sequence[bytes]) -> None:
    indexes = list(range(first_index, first_index + len(hashes)))
    await db.execute(INSERT, [indexes, list(hashes)])
