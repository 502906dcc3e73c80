"""Entries of the log to leaves of the tree."""

from collections.abc import Sequence
from typing import Any, ClassVar

from projections.audit.proofs.leaf import hash_of
from projections.audit.proofs.merkle import GrowingTree, stored_count
from projections.audit.proofs.table import add_hashes, subtrees_of
from projections.engine.projector import Projector
from service.database import Db
from service.event_log.mapper import EventMapper
from service.event_log.stored_entries import StoredEntry, entries_between


class GapError(Exception):
    """The log lacks an entry, which a tree over the rest would hide."""


class MerkleTreeProjector(Projector):
    """Adds every entry of the log to the tree, also unreadable ones."""

    name = "merkle_tree"
    events: ClassVar[tuple[type[Any], ...]] = ()

    async def read(
        self,
        db: Db,
        mapper: EventMapper,  # noqa: ARG002 # nothing is decoded
        *,
        after: int,
        upto: int,
        limit: int,
    ) -> Sequence[StoredEntry]:
        return await entries_between(db, after=after, upto=upto, limit=limit)

    async def project(self, db: Db, events: Sequence[StoredEntry]) -> None:
        size = events[0].position - 1
        tree = GrowingTree(size, await subtrees_of(db, size))
        hashes: list[bytes] = []
        for entry in events:
            if entry.position != tree.size + 1:
                raise GapError(f"the log has no position {tree.size + 1}")
            hashes += tree.append(hash_of(entry))
        await add_hashes(db, stored_count(size), hashes)
