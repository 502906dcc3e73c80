"""Delete sealed values and keys that events have destroyed."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from projections.engine.projector import Projector
from service.database import Db
from service.event_log.mapper import RecordedEvent
from service.keys.destruction import destroy_keys, destroy_values
from service.users.aggregate import User


class DestructionProjector(Projector):
    """Destroys the values and keys that events name, in order, also after a crash.

    Sealed ids are never used again and keys never made again, so that starting over
    from the first event does no harm.
    """

    name = "destruction"
    replayed = False

    def __init__(self, destroying: Iterable[type[Any]]) -> None:
        """Take the types of events that name values in ``sealed_ids``."""
        self.events = (*destroying, User.KeyDestroyed)

    async def project(self, db: Db, events: Sequence[RecordedEvent]) -> None:
        sealed_ids: list[UUID] = []
        user_ids: list[UUID] = []
        for recorded in events:
            match recorded.event:
                case User.KeyDestroyed():
                    user_ids.append(recorded.aggregate_id)
                case event:
                    sealed_ids += map(UUID, event.sealed_ids)
        await destroy_values(db, sealed_ids)
        if user_ids:
            await destroy_keys(db, sorted(set(user_ids)))
