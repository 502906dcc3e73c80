"""The interface of an event log that deciding a command needs."""

from collections.abc import Awaitable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol
from uuid import UUID

from service.aggregate import LoggedAggregate
from service.event_log.append import Append, Appended
from service.event_log.history import History
from service.event_log.mapper import EventMapper
from service.event_log.pending import NO_BASES, PendingCommand, PendingCommands


class CommandLog(Protocol):
    """The event log as ``execute`` and ``UnitOfWork`` see it.

    :class:`service.event_log.log.EventLog` implements it over PostgreSQL; the tests
    of decisions run on one in memory.
    """

    mapper: EventMapper
    pending: PendingCommands
    # How long a command waits for others, in seconds.
    wait_s: float

    @property
    def history(self) -> History:
        """The log's history; versions of another history mean other events."""

    async def load(self, aggregate_id: UUID) -> LoggedAggregate | None:
        """Return an aggregate as last committed, or None; not to be changed."""

    async def moved(self, reads: Mapping[UUID, int]) -> list[UUID]:
        """Return the aggregates that are not at the version at which they were read."""

    async def position_of(self, aggregate_id: UUID, version: int) -> int | None:
        """Return where a version was recorded; None while it is pending."""

    async def confirm(self) -> None:
        """Return once no fail-over can undo what is visible now."""

    def submit(
        self, append: Append, bases: Mapping[UUID, PendingCommand] = NO_BASES
    ) -> Awaitable[Appended]:
        """Queue one command, whose events are appended all or nothing.

        ``bases`` are the pending commands whose writes it has read, by the aggregate.

        :raises VersionConflictError: an aggregate that it read has moved
        :raises AlreadyAnsweredError: its idempotency key has been used
        """

    def lock(self, aggregate_id: UUID) -> AbstractAsyncContextManager[None]:
        """Hold a fair lock, in this process, on an aggregate under contention."""

    def is_contended(self, aggregate_id: UUID) -> bool:
        """Say whether a command holds an aggregate's lock, or waits for it."""
