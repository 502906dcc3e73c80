"""Entries of the log to leaves of the tree."""

from collections.abc import Sequence

from projections.audit.proofs.table import LoggedPosition, grow_tree, positions_between
from projections.engine.projector import Projector
from service.database import Db
from service.event_log.mapper import EventMapper


class MerkleTreeProjector(Projector):
    """Has the database add every entry of the log to the tree, also unreadable ones.

    Entries that are in the tree already are not added again, so that starting over from
    the first one does no harm.
    """

    name = "merkle_tree"
    events = ()
    replayed = False

    async def read(
        self,
        db: Db,
        mapper: EventMapper,  # noqa: ARG002 # nothing is decoded
        *,
        after: int,
        upto: int,
        limit: int,
    ) -> Sequence[LoggedPosition]:
        return await positions_between(db, after=after, upto=upto, limit=limit)

    async def project(self, db: Db, events: Sequence[LoggedPosition]) -> None:
        await grow_tree(db, upto=events[-1].position)
