"""The unit of work: what a command has read, and what it wants appended."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, TypeVar
from uuid import UUID, uuid4

import orjson
from eventsourcing.persistence import StoredEvent

from service.aggregate import LoggedAggregate
from service.errors import NotFoundError, PreconditionFailedError
from service.event_log.append import Append, Receipt, SealedValue
from service.event_log.pending import PendingCommand, PendingCommands
from service.event_log.protocol import CommandLog
from service.principal import Principal

NOTHING_PENDING: Final = PendingCommands()

A = TypeVar("A", bound=LoggedAggregate)


class UnitOfWork:
    """Loads aggregates for one decision and remembers their versions.

    The versions are checked when the command is appended, also those of aggregates
    that were only read: a decision can't rest on stale facts. With ``pending``, it
    reads what other commands are about to write; ``bases`` are these commands, by the
    aggregate.
    """

    def __init__(
        self,
        log: CommandLog,
        *,
        metadata: Mapping[str, str],
        at: datetime,
        principal: Principal | None = None,
        if_match: int | None = None,
        pending: PendingCommands | None = None,
    ) -> None:
        self._log = log
        self._pending = pending or NOTHING_PENDING
        self._principal = principal
        self._metadata = metadata
        self._if_match = if_match
        self._events: list[StoredEvent] = []
        self._written: dict[UUID, LoggedAggregate] = {}
        # By the id's number, whose hash is cheaper; None: there is no such aggregate.
        self._loaded: dict[int, LoggedAggregate | None] = {}
        self._sealed: list[SealedValue] = []
        self._history = log.history
        self.at = at
        self.reads: dict[UUID, int] = dict(principal.facts) if principal else {}
        self.bases: dict[UUID, PendingCommand] = {}
        self.if_match_used = False

    @property
    def principal(self) -> Principal:
        """The command's caller, whose facts are among ``reads``.

        :raises RuntimeError: the command has none, such as one of the command line
        """
        if self._principal is None:
            raise RuntimeError("this command has no caller")
        return self._principal

    @property
    def changed(self) -> bool:
        return bool(self._events)

    @property
    def written(self) -> list[UUID]:
        return list(self._written)

    async def find(self, kind: type[A], aggregate_id: UUID) -> A | None:
        """Return a copy to decide on, or None when there is no such aggregate."""
        key = aggregate_id.int
        if key in self._loaded:
            loaded = self._loaded[key]
        else:
            if key in self._pending.writes:
                known = await self._load_pending(aggregate_id)
            else:
                known = await self._log.load(aggregate_id)
            version = known.version if known else 0
            self.reads.setdefault(aggregate_id, version)
            loaded = self._loaded[key] = known.working_copy() if known else None
        return loaded if isinstance(loaded, kind) else None

    async def _load_pending(self, aggregate_id: UUID) -> LoggedAggregate | None:
        latest = await self._pending.latest(aggregate_id, self._history)
        if latest is None:
            return await self._log.load(aggregate_id)
        aggregate, self.bases[aggregate_id] = latest
        return aggregate

    async def load(self, kind: type[A], aggregate_id: UUID) -> A:
        """Return a copy to decide on.

        :raises NotFoundError: when there is no such aggregate
        """
        found = await self.find(kind, aggregate_id)
        if found is None:
            raise NotFoundError(f"no such {kind.__name__.lower()}")
        return found

    async def position_of(self, aggregate_id: UUID, version: int) -> int | None:
        """Return where a version was recorded; None while it is pending."""
        return await self._log.position_of(aggregate_id, version)

    def is_of_caller(self, aggregate_id: UUID) -> bool:
        """Say whether an aggregate is one that the caller was authenticated from."""
        return self._principal is not None and aggregate_id in self._principal.facts

    def relied_on(self, facts: Mapping[UUID, int]) -> None:
        """Add facts that were read outside of this unit of work."""
        for aggregate_id, version in facts.items():
            self.reads.setdefault(aggregate_id, version)

    def match(
        self, aggregate: LoggedAggregate | None, *, version: int | None = None
    ) -> None:
        """Compare the caller's If-Match with an aggregate's version.

        ``version`` replaces it where a resource has a version of its own, which not
        every event increments.

        :raises PreconditionFailedError: the versions differ
        """
        self.if_match_used = True
        if self._if_match is None:
            return
        if version is None:
            version = aggregate.version if aggregate else 0
        if version != self._if_match:
            raise PreconditionFailedError(
                f"the current version is {version}, not {self._if_match}",
                headers={"ETag": f'"{version}"'},
            )

    def save(self, aggregate: LoggedAggregate) -> None:
        """Add an aggregate's new events; a command's events are appended atomically."""
        events = aggregate.take_events(at=self.at)
        if not events:
            return
        self._events += map(self._log.mapper.to_stored_event, events)
        self._written[aggregate.id] = aggregate
        # A new aggregate was not loaded: it must not exist yet.
        self.reads.setdefault(aggregate.id, 0)
        # Later loads in this command return it with these events applied.
        self._loaded[aggregate.id.int] = aggregate

    def attach(self, sealed: SealedValue) -> None:
        """Store ciphertext in the transaction of the events that refer to it."""
        self._sealed.append(sealed)

    def to_append(self, receipt: Receipt | None) -> Append:
        """Return the request to append.

        :raises RuntimeError: an aggregate was changed after it was saved; the cache
            would keep events that the log doesn't have
        """
        for aggregate in self._written.values():
            if aggregate.pending_events:
                raise RuntimeError(f"{aggregate!r} was changed after it was saved")
        return Append(
            command_id=uuid4(),
            history=self._history,
            metadata=orjson.dumps(dict(self._metadata)).decode(),
            reads=self.reads,
            events=self._events,
            aggregates=list(self._written.values()),
            receipt=receipt,
            sealed=self._sealed,
        )

    def to_check(self) -> Append:
        """Return a request that appends nothing; it fails if a read has moved."""
        return Append(
            command_id=uuid4(),
            history=self._history,
            metadata="{}",
            reads=self.reads,
            events=(),
        )
