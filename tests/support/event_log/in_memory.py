"""An event log in memory, for tests of decisions.

tests/integration/event_log/test_in_memory.py runs the same cases on it and on
PostgreSQL.
"""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import orjson
from eventsourcing.persistence import StoredEvent

from service.aggregate import LoggedAggregate
from service.event_log.aggregate_locks import AggregateLocks
from service.event_log.append import (
    AlreadyAnsweredError,
    Append,
    Appended,
    Receipt,
    SealedValue,
    VersionConflictError,
)
from service.event_log.history import History
from service.event_log.log import EventLog, Head
from service.event_log.mapper import EventMapper, RecordedEvent
from service.event_log.pending import NO_BASES, PendingCommand, PendingCommands

MICROSECOND = timedelta(microseconds=1)


class InMemoryLog:
    """Checks and keeps what ``events.append`` would; every load replays the events."""

    def __init__(self, aggregates: Iterable[type[LoggedAggregate]]) -> None:
        self.mapper = EventMapper(aggregates)
        self.history = History(uuid4(), "memory")
        self.sealed: dict[UUID, SealedValue] = {}
        self._entries: list[tuple[StoredEvent, datetime, Append]] = []
        self._aggregates: dict[UUID, list[StoredEvent]] = {}
        self._receipts: dict[bytes, Receipt] = {}
        self._recorded_at = datetime.min.replace(tzinfo=UTC)
        self.wait_s = 60.0
        self._locks = AggregateLocks(self.wait_s)
        self.pending = PendingCommands()

    @property
    def epoch(self) -> UUID:
        return self.history.epoch

    async def head(self) -> Head:
        return Head(len(self._entries), self.epoch)

    async def load(self, aggregate_id: UUID) -> LoggedAggregate | None:
        aggregate: LoggedAggregate | None = None
        for stored in self._aggregates.get(aggregate_id, ()):
            event: Any = self.mapper.to_domain_event(stored)
            aggregate = event.mutate(aggregate)
        return aggregate

    async def moved(self, reads: Mapping[UUID, int]) -> list[UUID]:
        return self._moved(reads)

    def _moved(self, reads: Mapping[UUID, int]) -> list[UUID]:
        return [
            aggregate_id
            for aggregate_id, version in reads.items()
            if len(self._aggregates.get(aggregate_id, ())) != version
        ]

    async def position_of(self, aggregate_id: UUID, version: int) -> int | None:
        for position, (stored, _, _) in enumerate(self._entries, start=1):
            if (stored.originator_id, stored.originator_version) == (
                aggregate_id,
                version,
            ):
                return position
        return None

    async def confirm(self) -> None:
        pass

    def submit(
        self, append: Append, bases: Mapping[UUID, PendingCommand] = NO_BASES
    ) -> Awaitable[Appended]:
        assert not bases, "nothing is pending in memory"
        done: asyncio.Future[Appended] = asyncio.get_running_loop().create_future()
        try:
            done.set_result(self._append(append))
        except (VersionConflictError, AlreadyAnsweredError) as error:
            done.set_exception(error)
        return done

    async def append(self, append: Append) -> Appended:
        return await self.submit(append)

    def _append(self, append: Append) -> Appended:
        if append.history != self.history:
            raise VersionConflictError
        receipt = append.receipt
        if receipt and receipt.key in self._receipts:
            raise AlreadyAnsweredError(self._receipts[receipt.key])
        if self._moved(append.reads):
            raise VersionConflictError
        self._recorded_at = max(datetime.now(UTC), self._recorded_at + MICROSECOND)
        for event in append.events:
            assert isinstance(event.originator_id, UUID)
            history = self._aggregates.setdefault(event.originator_id, [])
            history.append(event)
            assert len(history) == event.originator_version
            self._entries.append((event, self._recorded_at, append))
        position = len(self._entries) if append.events else None
        for value in append.sealed:
            assert value.sealed_id not in self.sealed
            self.sealed[value.sealed_id] = value
        if receipt:
            self._receipts[receipt.key] = replace(receipt, position=position)
        return Appended(position=position, recorded_at=self._recorded_at)

    async def receipt(self, key: bytes) -> Receipt | None:
        return self._receipts.get(key)

    async def read(self, *, after: int, upto: int, limit: int) -> list[RecordedEvent]:
        return [
            RecordedEvent(
                position=position,
                recorded_at=recorded_at,
                topic=stored.topic,
                event=self.mapper.to_domain_event(stored),
                metadata=orjson.loads(append.metadata),
                command_id=append.command_id,
            )
            for position, (stored, recorded_at, append) in enumerate(
                self._entries[:upto], start=1
            )
            if position > after
        ][:limit]

    def lock(self, aggregate_id: UUID) -> AbstractAsyncContextManager[None]:
        return self._locks.lock(aggregate_id)

    def is_contended(self, aggregate_id: UUID) -> bool:
        return self._locks.is_contended(aggregate_id)


AnyLog = EventLog | InMemoryLog
