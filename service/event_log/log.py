"""The event log as the rest of the service sees it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import psycopg
from eventsourcing.domain import Snapshot
from eventsourcing.persistence import StoredEvent
from psycopg_pool import AsyncConnectionPool

from service.aggregate import LoggedAggregate
from service.event_log import reader
from service.event_log.append import Append, Appended, Receipt
from service.event_log.batch import BatchResult
from service.event_log.cache import AggregateCache
from service.event_log.doorbell import Doorbell, wait_for
from service.event_log.mapper import EventMapper, RecordedEvent
from service.event_log.writer import Writer

CACHE_AGGREGATES_MAX = 20_000
SNAPSHOT_INTERVAL = 100
TAIL_POLL_S = 1.0
TAIL_REST_S = 0.01


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the log; positions of another epoch mean other events."""

    position: int
    epoch: UUID


@dataclass(slots=True)
class Turn:
    """The queue of those who compete for one aggregate."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0


class EventLog:
    """Appends, loads and reads; knows nothing of what the events mean."""

    def __init__(
        self,
        conninfo: str,
        aggregates: Iterable[type[LoggedAggregate]],
        pool: AsyncConnectionPool[Any],
        *,
        cache_size_max: int = CACHE_AGGREGATES_MAX,
    ) -> None:
        self.mapper = EventMapper(aggregates)
        self.doorbell = Doorbell(conninfo)
        self.cache = AggregateCache(cache_size_max)
        self._pool = pool
        self._writer = Writer(conninfo, self._committed)
        self._seen = 0
        self._tail: asyncio.Task[None] | None = None
        self._snapshots: set[asyncio.Task[None]] = set()
        self._turns: dict[UUID, Turn] = {}

    async def start(self) -> None:
        self._seen = (await self.head()).position
        await self.doorbell.start()
        await self._writer.start()
        self._tail = asyncio.create_task(self._follow_others(), name="cache tail")

    async def stop(self) -> None:
        """Commit what waits, then close the log's own connections."""
        await self._writer.stop()
        if self._tail:
            self._tail.cancel()
            await asyncio.gather(self._tail, return_exceptions=True)
        await asyncio.gather(*self._snapshots, return_exceptions=True)
        await self.doorbell.stop()

    @property
    def commands_waiting(self) -> int:
        return self._writer.queued

    async def head(self) -> Head:
        async with self._pool.connection() as connection:
            return Head(*await reader.head(connection))

    async def append(self, append: Append) -> Appended:
        """Append one command; see :meth:`Writer.append` for what it raises."""
        return await self._writer.append(append)

    async def receipt(self, key: bytes) -> Receipt | None:
        """Return the answer kept for an idempotency key."""
        async with self._pool.connection() as connection:
            return await reader.receipt(connection, key)

    async def load(self, aggregate_id: UUID) -> LoggedAggregate | None:
        """Return an aggregate as last committed, or None; not to be changed."""
        cached = self.cache.get(aggregate_id)
        if cached is not None:
            return cached
        with self.cache.loading(aggregate_id) as loading:
            async with self._pool.connection() as connection:
                aggregate, replayed = await reader.load(
                    connection, self.mapper, aggregate_id
                )
            loading.aggregate = aggregate
        if aggregate is not None and replayed >= SNAPSHOT_INTERVAL:
            self._take_snapshot(aggregate)
        return aggregate

    async def moved(self, reads: Mapping[UUID, int]) -> bool:
        """Say whether any aggregate is past the version at which it was read.

        Those that are leave the cache.
        """
        if not reads:
            return False
        async with self._pool.connection() as connection:
            latest = await reader.latest_versions(connection, list(reads))
        stale = {
            aggregate_id: version
            for aggregate_id, version in reads.items()
            if latest.get(aggregate_id, 0) != version
        }
        for aggregate_id in stale:
            self.cache.moved(aggregate_id, latest.get(aggregate_id, 0))
        return bool(stale)

    async def read(
        self,
        *,
        after: int,
        upto: int,
        limit: int,
        topics: Sequence[str] | None = None,
    ) -> list[RecordedEvent]:
        """Return events in the order of their positions, ``after < p <= upto``."""
        async with self._pool.connection() as connection:
            return await reader.events(
                connection,
                self.mapper,
                after=after,
                upto=upto,
                limit=limit,
                topics=topics,
            )

    @contextlib.asynccontextmanager
    async def turn(self, aggregate_id: UUID) -> AsyncIterator[None]:
        """Queue up, in this process, for an aggregate that commands compete for."""
        turn = self._turns.setdefault(aggregate_id, Turn())
        turn.users += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.users -= 1
            if not turn.users:
                del self._turns[aggregate_id]

    def _committed(self, batch: Sequence[Append], result: BatchResult) -> None:
        # A base other than what we have seen means that others wrote in between;
        # the tail looks at those events.
        if result.base_position == self._seen:
            self._seen = result.last_position
        for append, outcome in zip(batch, result.outcomes, strict=True):
            if not isinstance(outcome, Appended):
                continue
            for aggregate in append.aggregates:
                self.cache.put(aggregate)
                if aggregate.version % SNAPSHOT_INTERVAL == 0:
                    self._take_snapshot(aggregate)
        if result.last_position > result.base_position:
            self.doorbell.ring()

    async def _follow_others(self) -> None:
        """Drop cached aggregates that other processes have moved."""
        with self.doorbell.bell() as bell:
            while True:
                await wait_for(bell, TAIL_POLL_S)
                with contextlib.suppress(psycopg.Error, OSError):
                    await self._catch_up()
                await asyncio.sleep(TAIL_REST_S)

    async def _catch_up(self) -> None:
        async with self._pool.connection() as connection:
            position, _ = await reader.head(connection)
            seen = self._seen
            if position <= seen:
                return
            moved = await reader.moved_between(connection, seen, position)
        for aggregate_id, version in moved:
            self.cache.moved(aggregate_id, version)
        self._seen = max(self._seen, position)

    def _take_snapshot(self, aggregate: LoggedAggregate) -> None:
        snapshot = Snapshot.take(aggregate)
        stored = self.mapper.to_stored_event(snapshot)
        task = asyncio.create_task(self._keep(stored, type(aggregate).class_version))
        self._snapshots.add(task)
        task.add_done_callback(self._snapshots.discard)

    async def _keep(self, stored: StoredEvent, class_version: int) -> None:
        # Only a shortcut: without it the next load replays a little more.
        with contextlib.suppress(psycopg.Error, OSError):
            async with self._pool.connection() as connection:
                await reader.keep_snapshot(connection, stored, class_version)
