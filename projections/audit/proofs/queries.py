"""Queries of the tree: roots, proofs and checkpoints."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.errors import UndefinedTable
from psycopg.rows import class_row

from agent_runtime_client.proofs.merkle import folded
from projections.audit.proofs.merkle import (
    Leaves,
    Node,
    consistency_path,
    full_subtrees,
    inclusion_path,
)
from projections.audit.proofs.table import known_hashes, stored_hashes
from service.database import Db

LATEST_CHECKPOINT = """
    SELECT c.size, c.note, c.public_key
      FROM events.checkpoint c JOIN events.head h ON h.epoch = c.epoch
     ORDER BY c.size DESC
     LIMIT 1
"""
CHECKPOINT_OF = """
    SELECT c.size, c.note, c.public_key
      FROM events.checkpoint c JOIN events.head h ON h.epoch = c.epoch
     WHERE c.size = %s
"""
NEWEST_NOTE = """
    SELECT note FROM events.checkpoint WHERE epoch = %s ORDER BY size DESC LIMIT 1
"""
EPOCH = "SELECT epoch FROM events.head"
# The first epoch has no event; its id is that of the event's aggregate.
UNRECORDED_CHANGE = """
    SELECT FROM events.epoch_change c
     WHERE c.epoch = %s
       AND NOT EXISTS (SELECT FROM events.stored_event
                        WHERE originator_id = c.epoch AND notification_id <= %s)
"""


@dataclass(frozen=True, slots=True)
class SignedCheckpoint:
    """A checkpoint as a signed note, and the key to check it with, both as text."""

    size: int
    note: str
    public_key: str


@dataclass(frozen=True, slots=True)
class InclusionProof:
    leaf: bytes
    root: bytes
    path: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class ConsistencyProof:
    first_root: bytes
    second_root: bytes
    path: Sequence[bytes]


async def latest_checkpoint(db: Db) -> SignedCheckpoint | None:
    """Return the newest checkpoint of the log's present epoch; None before the first.

    For publication: the note is the whole message.
    """
    async with db.cursor(row_factory=class_row(SignedCheckpoint)) as cursor:
        await cursor.execute(LATEST_CHECKPOINT)
        return await cursor.fetchone()


async def checkpoint_of(db: Db, size: int) -> SignedCheckpoint | None:
    """Return the checkpoint of a size in the log's present epoch; None if none is kept.

    All of the last hour are, and of the time before the last of each hour.
    """
    async with db.cursor(row_factory=class_row(SignedCheckpoint)) as cursor:
        await cursor.execute(CHECKPOINT_OF, [size])
        return await cursor.fetchone()


async def notes_of(db: Db, log_epoch: UUID) -> list[str]:
    """Return the newest checkpoint of an epoch, as a list of at most one note."""
    cursor = await db.execute(NEWEST_NOTE, [log_epoch])
    return [note for (note,) in await cursor.fetchall()]


async def epoch(db: Db) -> UUID:
    row = await (await db.execute(EPOCH)).fetchone()
    assert row is not None
    found: UUID = row[0]
    return found


async def is_epoch_change_within(db: Db, log_epoch: UUID, size: int) -> bool:
    """Say whether a tree of a size covers the event that records an epoch's begin."""
    cursor = await db.execute(UNRECORDED_CHANGE, [log_epoch, size])
    return await cursor.fetchone() is None


async def roots(db: Db, *sizes: int) -> list[bytes]:
    """Return the roots of the tree at some sizes that it has reached."""
    return await _hashes_over(db, [Leaves(0, size) for size in sizes])


async def leaves_known(db: Db, positions: Sequence[int]) -> dict[int, bytes]:
    """Return the leaves of positions, as far as the live tree has them."""
    try:
        known = await known_hashes(db, [Node(0, each - 1) for each in positions])
    except UndefinedTable:
        return {}
    return {leaf.number + 1: hash_ for leaf, hash_ in known.items()}


async def inclusion_proof(db: Db, *, position: int, size: int) -> InclusionProof:
    """Prove that a position is in the tree of some size; it has to be."""
    index = position - 1
    wanted = [Leaves(index, position), Leaves(0, size), *inclusion_path(index, size)]
    leaf, root, *path = await _hashes_over(db, wanted)
    return InclusionProof(leaf, root, path)


async def consistency_proof(db: Db, *, first: int, second: int) -> ConsistencyProof:
    """Prove that one tree is a prefix of another."""
    wanted = [Leaves(0, first), Leaves(0, second), *consistency_path(first, second)]
    first_root, second_root, *path = await _hashes_over(db, wanted)
    return ConsistencyProof(first_root, second_root, path)


async def _hashes_over(db: Db, wanted: Sequence[Leaves]) -> list[bytes]:
    parts = [list(full_subtrees(leaves)) for leaves in wanted]
    hashes = await stored_hashes(db, [node for nodes in parts for node in nodes])
    return [folded([hashes[node] for node in nodes]) for nodes in parts]
