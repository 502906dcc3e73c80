"""Remember which aggregates don't exist, for the commands of one request."""

from collections.abc import Awaitable, Mapping
from contextlib import AbstractAsyncContextManager
from uuid import UUID

from service.aggregate import LoggedAggregate
from service.event_log.append import Append, Appended
from service.event_log.history import History
from service.event_log.pending import NO_BASES, PendingCommand
from service.event_log.protocol import CommandLog


class RememberedAbsences:
    """An event log that looks once for an aggregate that doesn't exist.

    The log checks that it still doesn't when a command counts that didn't find it;
    otherwise the command is decided again, and the aggregate is looked for.
    """

    def __init__(self, log: CommandLog, absent: set[UUID] | None = None) -> None:
        self.mapper = log.mapper
        self.wait_s = log.wait_s
        self.pending = log.pending
        self.absent = absent or set()
        self._log = log

    @property
    def history(self) -> History:
        return self._log.history

    async def load(self, aggregate_id: UUID) -> LoggedAggregate | None:
        if aggregate_id in self.absent:
            return None
        found = await self._log.load(aggregate_id)
        if found is None:
            self.absent.add(aggregate_id)
        return found

    async def moved(self, reads: Mapping[UUID, int]) -> list[UUID]:
        moved = await self._log.moved(reads)
        self.absent.difference_update(moved)
        return moved

    async def position_of(self, aggregate_id: UUID, version: int) -> int | None:
        return await self._log.position_of(aggregate_id, version)

    async def confirm(self) -> None:
        await self._log.confirm()

    def submit(
        self, append: Append, bases: Mapping[UUID, PendingCommand] = NO_BASES
    ) -> Awaitable[Appended]:
        self.absent.difference_update(each.id for each in append.aggregates)
        return self._log.submit(append, bases)

    def lock(self, aggregate_id: UUID) -> AbstractAsyncContextManager[None]:
        return self._log.lock(aggregate_id)

    def is_contended(self, aggregate_id: UUID) -> bool:
        return self._log.is_contended(aggregate_id)
