"""Keep cached aggregates up to date with what other processes append."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from uuid import UUID

import psycopg
from eventsourcing.persistence import StoredEvent

from service.database import Db, Pool, message_of
from service.event_log import reader
from service.event_log.cache import AggregateCache
from service.event_log.commit_notifier import wait_for_commit
from service.event_log.history import History
from service.event_log.mapper import EventMapper
from service.outages import Outage, cause_of
from service.unavailable import unavailable

# Beyond this, reading the commits of others costs more than an empty cache.
CATCH_UP_POSITIONS_MAX = 20_000
CATCH_UP_STEP = 1000
TAIL_POLL_S = 1.0
TAIL_INTERVAL_S = 0.01

logger = logging.getLogger(__name__)


class CacheTail:
    """Reads the log's new events and applies those of other processes to the cache.

    ``history`` is the one that this process knows, ``recognize`` finds out which one a
    connection's server has, and ``on_cut`` is called when the log has lost events.
    """

    def __init__(
        self,
        pool: Pool,
        mapper: EventMapper,
        cache: AggregateCache,
        *,
        history: Callable[[], History],
        recognize: Callable[[Db], Awaitable[None]],
        on_cut: Callable[[], None],
    ) -> None:
        self.others_committed = asyncio.Event()
        self._pool = pool
        self._mapper = mapper
        self._cache = cache
        self._history = history
        self._recognize = recognize
        self._on_cut = on_cut
        self._seen = 0
        # The command of the event at that position; None as long as it isn't known.
        self._seen_command: UUID | None = None
        # When everything committed before was known here; monotonic.
        self._known_at = 0.0
        self._refreshing = asyncio.Lock()
        self._outage = Outage()

    async def start(self) -> None:
        """Begin at the end of the log."""
        async with self._pool.connection() as connection:
            tail = await reader.tail(connection, 0)
        self._seen, self._seen_command = tail.position, tail.command_id

    async def run(self) -> None:
        """Apply what other processes append, until cancelled."""
        while True:
            await wait_for_commit(self.others_committed, TAIL_POLL_S)
            try:
                await self._catch_up()
                self._outage.has_ended()
            except (psycopg.Error, OSError) as error:
                level = self._outage.level(cause_of(error))
                logger.log(
                    level,
                    "can't read the commits of other processes: %s",
                    message_of(error),
                )
            await asyncio.sleep(TAIL_INTERVAL_S)

    def committed(
        self, base_position: int, last_position: int, last_command: UUID | None
    ) -> bool:
        """Note a batch of this process; return whether the cache may take its results.

        If the tail is past the batch, another process may have changed one of its
        aggregates since, and the tail would not look again.
        """
        is_latest = last_position > self._seen
        # Another base position means that other processes wrote in between: the
        # tail reads those events.
        if base_position == self._seen:
            self._seen = last_position
            self._seen_command = last_command or self._seen_command
        else:
            self.others_committed.set()
        return is_latest

    def start_over(self) -> None:
        """Find out where the log ends, after its history has changed."""
        self._seen, self._seen_command = 0, None

    async def refresh(self, age_max_s: float) -> None:
        """Apply what other processes have committed, if that was last done before.

        Afterwards the cache lacks nothing that is older than ``age_max_s``.

        :raises UnavailableError: the database can't be read
        """
        if time.monotonic() - self._known_at <= age_max_s:
            return
        async with self._refreshing:
            if time.monotonic() - self._known_at <= age_max_s:
                return
            try:
                await self._catch_up()
            except (psycopg.Error, OSError) as error:
                raise unavailable(error) from error

    async def _catch_up(self) -> None:
        began = time.monotonic()
        await self._apply_others()
        self._known_at = max(began, self._known_at)

    async def _apply_others(self) -> None:
        async with self._pool.connection() as connection:
            seen, seen_command = self._seen, self._seen_command
            tail = await reader.tail(connection, seen)
            position = tail.position
            is_recognized = tail.server == tail.recorded_server
            if not is_recognized or (tail.epoch, tail.server) != self._history():
                await self._recognize(connection)
                seen = self._seen
            elif seen_command not in (None, tail.seen_command_id):
                logger.error(
                    "the log was cut, in the same epoch", extra={"position": seen}
                )
                self._on_cut()
                self._seen, self._seen_command = position, tail.command_id
                return
            if position <= seen:
                return
            if position - seen > CATCH_UP_POSITIONS_MAX:
                self._cache.clear()
                seen = position
            while seen < position:
                upto = await reader.last_of_chunk(
                    connection, after=seen, upto=min(position, seen + CATCH_UP_STEP)
                )
                for stored in await reader.stored_between(connection, seen, upto):
                    self._apply(stored)
                seen = upto
        if self._seen < position:
            self._seen, self._seen_command = position, tail.command_id

    def _apply(self, stored: StoredEvent) -> None:
        """Apply another process's event to its cached aggregate."""
        aggregate_id, version = stored.originator_id, stored.originator_version
        assert isinstance(aggregate_id, UUID)
        known = self._cache.get(aggregate_id)
        if known is not None and known.version + 1 == version:
            try:
                event = self._mapper.to_domain_event(stored)
                changed = event.mutate(known.working_copy())
                self._cache.put(changed, len(stored.state))
            except Exception:
                # It is evicted; the next load reports the error to its caller.
                logger.exception("can't apply an event", extra={"topic": stored.topic})
        self._cache.moved(aggregate_id, version)
