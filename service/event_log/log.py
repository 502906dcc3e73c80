"""The event log over PostgreSQL, with its cache, writer and notifier."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from service.aggregate import LoggedAggregate
from service.cache_bounds import DEFAULT_CACHES
from service.database import Db, Pool
from service.errors import InvalidRequestError, Problem
from service.event_log import aggregate_reader, reader
from service.event_log.aggregate_locks import AggregateLocks
from service.event_log.append import Append, Appended, Receipt, VersionConflictError
from service.event_log.batch import BatchResult, last_command
from service.event_log.cache import AggregateCache
from service.event_log.cache_tail import CacheTail
from service.event_log.commit_notifier import CommitNotifier
from service.event_log.durable import DurablePosition
from service.event_log.history import History, Mark, recognize
from service.event_log.mapper import EventMapper
from service.event_log.pending import NO_BASES, PendingCommand
from service.event_log.receipt_retention import keep_deleting_expired
from service.event_log.snapshots import Snapshots, is_snapshot_due
from service.event_log.writer import Observer, Timeouts, Writer
from service.tasks import background_task, end_tasks


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the log; positions of another epoch mean other events."""

    position: int
    epoch: UUID


logger = logging.getLogger(__name__)


class EventLog:
    """Appends commands, and loads aggregates of any kind."""

    def __init__(
        self,
        conninfo: str,
        aggregates: Iterable[type[LoggedAggregate]],
        pool: Pool,
        *,
        writer_conninfo: str | None = None,
        cache_bytes_max: int = DEFAULT_CACHES.aggregates,
        timeouts: Timeouts | None = None,
        on_cut: Callable[[], None] = lambda: None,
    ) -> None:
        """Call ``on_cut`` when the database may lack what this process has read."""
        timeouts = timeouts or Timeouts()
        self.wait_s = timeouts.queue_s
        self.mapper = EventMapper(aggregates)
        self.notifier = CommitNotifier(conninfo, self._others_have_committed)
        self.durable = DurablePosition(
            conninfo,
            self.notifier.notify_subscribers,
            history=lambda: self.history,
            wait_s=self.wait_s,
        )
        self.cache = AggregateCache(cache_bytes_max)
        self._pool = pool
        self._on_cut = on_cut
        self._writer = Writer(
            writer_conninfo or conninfo,
            Observer(
                on_connect=self._recognize,
                on_commit=self._committed,
                on_epoch=self._on_epoch,
            ),
            timeouts,
        )
        self.pending = self._writer.pending
        self._tail = CacheTail(
            pool,
            self.mapper,
            self.cache,
            history=lambda: self.history,
            recognize=self._recognize,
            on_cut=self._forget,
        )
        self._tasks: list[asyncio.Task[None]] = []
        self.snapshots = Snapshots(pool, self.mapper)
        locks = AggregateLocks(self.wait_s)
        self.lock, self.is_contended = locks.lock, locks.is_contended

    async def start(self) -> None:
        await self._writer.start()
        await self._tail.start()
        await self.notifier.start()
        self._tasks = [
            background_task(self._tail.run, name="cache tail"),
            background_task(self.durable.run, name="durable position"),
            background_task(
                lambda: keep_deleting_expired(self._pool), name="receipt retention"
            ),
        ]

    async def stop(self) -> None:
        """Commit the queued commands, then close the log's own connections."""
        await self._writer.stop()
        await end_tasks(*self._tasks)
        await self.snapshots.stop()
        await self.notifier.stop()

    @property
    def epoch(self) -> UUID:
        """The log's epoch as far as this process knows; at most a second old."""
        return self.history.epoch

    @property
    def history(self) -> History:
        """The log's history as far as this process knows; at most a second old."""
        assert self._writer.history is not None, "the log has not been started"
        return self._writer.history

    async def head(self) -> Head:
        async with self._pool.connection() as connection:
            return Head(*await reader.head(connection))

    def submit(
        self, append: Append, bases: Mapping[UUID, PendingCommand] = NO_BASES
    ) -> asyncio.Future[Appended]:
        """Queue one command; see :meth:`Writer.submit`."""
        return self._writer.submit(append, bases)

    async def append(self, append: Append) -> Appended:
        """Append one command; see :meth:`Writer.submit` for what it raises."""
        return await self._writer.submit(append)

    async def receipt(self, key: bytes) -> Receipt | None:
        """Return the answer kept for an idempotency key, once it is durable.

        :raises UnavailableError: a fail-over could still undo it
        """
        epoch = self.epoch
        async with self._pool.connection() as connection:
            kept = await reader.receipt(connection, key)
        if kept is not None:
            await self.durable.reach(epoch, kept.position or 0)
        return kept

    async def load(self, aggregate_id: UUID) -> LoggedAggregate | None:
        """Return an aggregate as last committed, or None; not to be changed."""
        cached = self.cache.get(aggregate_id)
        if cached is not None:
            return cached
        with self.cache.loading(aggregate_id) as loading:
            async with self._pool.connection() as connection:
                aggregate = await self.snapshots.load(connection, aggregate_id)
            loading.aggregate = aggregate
        return aggregate

    async def refresh(self, age_max_s: float) -> None:
        """Apply what other processes have committed; see :meth:`CacheTail.refresh`."""
        await self._tail.refresh(age_max_s)

    async def absent(self, aggregate_ids: Iterable[UUID]) -> set[UUID]:
        """Return those of some aggregates that don't exist."""
        unknown = [each for each in aggregate_ids if self.cache.get(each) is None]
        if not unknown:
            return set()
        async with self._pool.connection() as connection:
            latest = await aggregate_reader.latest_versions(connection, unknown)
        return set(unknown) - latest.keys()

    async def preload(self, aggregate_ids: Iterable[UUID]) -> set[UUID]:
        """Load small aggregates into the cache, all in one query.

        :returns: those of the aggregates that don't exist
        """
        unknown = [each for each in aggregate_ids if self.cache.get(each) is None]
        if not unknown:
            return set()
        async with self._pool.connection() as connection:
            with ExitStack() as stack:
                loads = {
                    each: stack.enter_context(self.cache.loading(each))
                    for each in unknown
                }
                latest = await aggregate_reader.latest_versions(connection, unknown)
                found = await aggregate_reader.load_small(
                    connection, self.mapper, latest
                )
                for aggregate_id, aggregate in found.items():
                    loads[aggregate_id].aggregate = aggregate
        return set(unknown) - latest.keys()

    async def load_past(
        self, aggregate_id: UUID, at: int | datetime
    ) -> tuple[LoggedAggregate | None, int]:
        """Return an aggregate as of a position or time, and that position.

        A time in the future means the end.

        :raises InvalidRequestError: the log has not reached that position
        """
        async with self._pool.connection() as connection:
            head, _ = await reader.head(connection)
            if isinstance(at, datetime):
                position = await reader.position_at(connection, at)
            elif at <= head:
                position = at
            else:
                raise InvalidRequestError(
                    f"the log ends at position {head}",
                    problems=[Problem("at", "beyond the end of the log")],
                )
            version = await aggregate_reader.version_at(
                connection, aggregate_id, position
            )
            if version is None:
                return None, position
            aggregate = await self.snapshots.load(
                connection, aggregate_id, upto=version
            )
        return aggregate, position

    async def moved(self, reads: Mapping[UUID, int]) -> list[UUID]:
        """Return the aggregates that are not at the version at which they were read.

        They are evicted from the cache.
        """
        if not reads:
            return []
        async with self._pool.connection() as connection:
            latest = await aggregate_reader.latest_versions(connection, list(reads))
        stale = [
            aggregate_id
            for aggregate_id, version in reads.items()
            if latest.get(aggregate_id, 0) != version
        ]
        for aggregate_id in stale:
            self.cache.forget(aggregate_id, reads[aggregate_id])
        return stale

    async def position_of(self, aggregate_id: UUID, version: int) -> int | None:
        """Return where a version was recorded; None while it is pending."""
        async with self._pool.connection() as connection:
            return await aggregate_reader.position_of(connection, aggregate_id, version)

    async def confirm(self) -> None:
        """Return once everything that is visible now is durable.

        :raises UnavailableError: it isn't in time
        """
        if self.durable.has_standbys:
            head = await self.head()
            await self.durable.reach(head.epoch, head.position)

    def _committed(self, batch: Sequence[Append], result: BatchResult) -> None:
        last = last_command(batch, result)
        is_latest = self._tail.committed(
            result.base_position, result.last_position, last
        )
        if result.last_position > result.base_position:
            self.notifier.notify_others()
        for append, outcome in zip(batch, result.outcomes, strict=True):
            if isinstance(outcome, VersionConflictError):
                # Not to be decided on again by those that rested on this command.
                for aggregate in append.aggregates:
                    self.cache.forget(aggregate.id, append.reads[aggregate.id])
            if not isinstance(outcome, Appended):
                continue
            event_bytes = sum([len(each.state) for each in append.events])
            for aggregate in append.aggregates:
                if is_latest:
                    self.cache.put(aggregate, event_bytes)
                if is_snapshot_due(append.reads[aggregate.id], aggregate.version):
                    self.snapshots.take(aggregate, append.command_id)
        if last is not None:
            # Its commit has returned, so the standbys have it and all before it.
            self.durable.advance(Mark(self.epoch, result.last_position, last))

    def _others_have_committed(self) -> None:
        self._tail.others_committed.set()
        self.durable.others_committed.set()

    async def _recognize(self, connection: Db) -> None:
        """Find out which history the server of a new connection continues."""
        known = self._writer.history
        history = await recognize(connection, known, self.durable.mark)
        if self._writer.history is None:
            self._writer.history = history
        elif history not in (known, self._writer.history):
            self._restored(history)

    def _on_epoch(self, epoch: UUID) -> None:
        self._restored(self.history._replace(epoch=epoch))

    def _restored(self, history: History) -> None:
        """Start over on a log with another history: it may have other events."""
        if history.epoch != self.epoch:
            logger.warning("the log has a new epoch", extra=history._asdict())
        self._writer.history = history
        self._forget()
        self._tail.start_over()

    def _forget(self) -> None:
        self.cache.clear()
        self.durable.forget()
        self._on_cut()
