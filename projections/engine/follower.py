"""Follow the log and keep one projector's tables current."""

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager

import psycopg
from psycopg.errors import RaiseException

from projections.engine.follower_position import (
    FollowerPosition,
    ReplacedError,
    record_stop,
    saved_progress,
)
from projections.engine.progress import FollowerStatus
from projections.engine.projector import Positioned, Projector
from projections.engine.rebuild import create_indexes, create_tables, rebuild
from projections.engine.traceparents import traceparents_of
from service.database import (
    ANSWER_TIMEOUT_S,
    TRY_ADVISORY_LOCK,
    Db,
    connect,
    deadline,
    passes_by_itself,
)
from service.event_log import reader
from service.event_log.commit_notifier import wait_for_commit
from service.event_log.log import EventLog
from service.event_log.mapper import UnreadableEventError
from service.outages import Outage, cause_of
from service.spans import NOT_TRACED, Spans

BATCH_EVENTS_MAX = 1000
STEP_TIMEOUT_S = 120.0
POLL_S = 0.5
# A step costs about as much for one event as for fifty: under load, fewer steps leave
# more CPU for appends.
STEP_INTERVAL_S = 0.02
BUSY_EVENTS = 10
STANDBY_S = 1.0
RECONNECT_S = 0.5
STOPPED_RETRY_S = 30.0

logger = logging.getLogger(__name__)


class LogTooShortError(Exception):
    """The log ends before an event that has been applied, in the same epoch.

    It was restored without a new epoch, so which of the applied events it still has
    is unknown.
    """


class LogRewrittenError(Exception):
    """The log has another event at the follower's position, in the same epoch.

    It was cut and has grown again, so some of the applied events are no longer in it.
    """


class Follower:
    """Keeps one projector's tables up to date with the log.

    One instance of each follower is active at a time, by an advisory lock. It
    advances its position by compare-and-set, so an instance that was paused and
    replaced can't write.
    """

    def __init__(
        self,
        projector: Projector,
        log: EventLog,
        conninfo: str,
        *,
        traces: Spans | None = None,
        stopped_retry_s: float = STOPPED_RETRY_S,
    ) -> None:
        self.status = FollowerStatus(projector.name)
        self._projector = projector
        self._log = log
        self._conninfo = conninfo
        self._traces = traces
        self._stopped_retry_s = stopped_retry_s
        self._batch_max = BATCH_EVENTS_MAX
        self._outage = Outage()

    async def run(self) -> None:
        """Follow until cancelled; reconnect, stand by and retry as needed."""
        while True:
            try:
                await self._run_as_leader()
            except Exception as error:
                if _is_transient(error):
                    logger.log(
                        self._outage.level(cause_of(error)),
                        "follower interrupted",
                        extra={"follower": self.name},
                        exc_info=error,
                    )
                    if self.status.state != "stopped":
                        self.status.state = "interrupted"
                    await asyncio.sleep(RECONNECT_S)
                else:
                    # Never past an event that can't be applied; other followers go on.
                    logger.log(
                        self._outage.level(_reason(error), logging.ERROR),
                        "follower stopped",
                        exc_info=error,
                        extra={"follower": self.name},
                    )
                    await self._stop(error)
                    await asyncio.sleep(self._stopped_retry_s)

    @property
    def name(self) -> str:
        return self._projector.name

    async def _run_as_leader(self) -> None:
        async with await connect(self._conninfo) as db:
            while not await self._locked(db):
                await self._stand_by(db)
                await asyncio.sleep(STANDBY_S)
            saved = await self._resume(db)
            with deadline(db, ANSWER_TIMEOUT_S):
                await db.execute("SET search_path = read")
            self._batch_max = BATCH_EVENTS_MAX
            with self._log.notifier.subscribe() as committed:
                clock = asyncio.get_running_loop().time
                while True:
                    before, next_step = self.status.position, clock() + STEP_INTERVAL_S
                    with deadline(db, STEP_TIMEOUT_S):
                        is_behind = await self._step(db, saved)
                    if self._outage.has_ended():
                        logger.info("follower goes on", extra={"follower": self.name})
                    if not is_behind:
                        if self.status.position - before >= BUSY_EVENTS:
                            await asyncio.sleep(next_step - clock())
                        await wait_for_commit(committed, POLL_S)

    async def _locked(self, db: Db) -> bool:
        name = f"agent-runtime follower {self.name}"
        with deadline(db, ANSWER_TIMEOUT_S):
            row = await (await db.execute(TRY_ADVISORY_LOCK, [name])).fetchone()
        return bool(row and row[0])

    async def _stand_by(self, db: Db) -> None:
        """Report the lag all the same: who has the lock may do nothing."""
        with deadline(db, ANSWER_TIMEOUT_S):
            self.status.position, self.status.head = await saved_progress(db, self.name)
        self.status.state, self.status.reason = "standby", None
        self.status.report()

    async def _resume(self, db: Db) -> FollowerPosition:
        """Find the saved position; create or rebuild the tables where needed."""
        with deadline(db, ANSWER_TIMEOUT_S):
            _, epoch = await reader.head(db)
            saved = FollowerPosition.of(self._projector, epoch)
            position, is_ours = await saved.position(db)
        self.status.position = position or 0
        if position is None:
            is_ours = await self._create_tables(db, saved)
        if not is_ours:
            self.status.state = "rebuilding"
            self.status.position = await rebuild(
                self._conninfo, self._log.mapper, self._projector
            )
        return saved

    async def _create_tables(self, db: Db, saved: FollowerPosition) -> bool:
        """Create empty tables; False when there are tables without a saved position."""
        try:
            with deadline(db, STEP_TIMEOUT_S):
                async with db.transaction():
                    await create_tables(db, self._projector, "read")
                    await create_indexes(db, self._projector, "read")
                    await saved.begin(db)
        except psycopg.errors.DuplicateTable:
            return False
        return True

    async def _step(self, db: Db, saved: FollowerPosition) -> bool:
        """Apply one batch and return whether there is more."""
        position = self.status.position
        durable = self._log.durable.position(saved.epoch)
        head, epoch, upto, is_skipped, is_rewritten = await saved.skip(
            db, position, durable
        )
        if epoch != saved.epoch:
            raise ReplacedError("the log has a new epoch")
        if head < position:
            raise LogTooShortError(f"the log ends at {head}")
        if is_rewritten:
            raise LogRewrittenError(
                f"the log has another event at {position} than the one applied"
            )
        self.status.head = head
        if upto > position and not is_skipped:
            try:
                upto = await self._apply_some(db, saved, position, upto)
            except Exception as error:
                if _is_transient(error) or self._batch_max == 1:
                    raise
                # Retry one by one, to find the event that can't be applied.
                self._batch_max = 1
                return True
            self._batch_max = min(self._batch_max * 2, BATCH_EVENTS_MAX)
        self.status.position = upto
        self.status.state, self.status.reason = "following", None
        self.status.report()
        return upto < min(head, durable)

    async def _apply_some(
        self,
        db: Db,
        saved: FollowerPosition,
        position: int,
        upto: int,
    ) -> int:
        """Apply a batch and return how far it went."""
        started_ns = time.time_ns()
        upto = await reader.last_of_chunk(
            db, after=position, upto=upto, topics=self._projector.topics or None
        )
        events = await self._projector.read(
            db, self._log.mapper, after=position, upto=upto, limit=self._batch_max
        )
        if len(events) == self._batch_max:
            upto = events[-1].position
        try:
            with self._traced(events, upto, started_ns):
                await self._apply(db, saved, events, position, upto)
        except Exception as error:
            if self._batch_max == 1 and events and not _is_transient(error):
                raise UnappliedEventError(events[0]) from error
            raise
        return upto

    def _traced(
        self, events: Sequence[Positioned], upto: int, started_ns: int
    ) -> AbstractContextManager[None]:
        if self._traces is None:
            return NOT_TRACED
        traceparents = traceparents_of(events)
        return self._traces.follower_step(self.name, traceparents, upto, started_ns)

    async def _apply(
        self,
        db: Db,
        saved: FollowerPosition,
        events: Sequence[Positioned],
        position: int,
        upto: int,
    ) -> None:
        async with db.transaction():
            # Advancing first locks the position, as a rebuild's switch does first.
            await saved.advance(db, position, upto)
            if events:
                await self._projector.project(db, events)

    async def _stop(self, error: Exception) -> None:
        self.status.state = "stopped"
        self.status.reason = _reason(error)
        self.status.report()
        try:
            async with await connect(self._conninfo) as db:
                await record_stop(
                    db, self.name, self.status.position, self.status.reason
                )
        except (psycopg.Error, OSError):
            logger.warning("can't record why", extra={"follower": self.name})


class UnappliedEventError(Exception):
    """A projector can't apply an event."""

    def __init__(self, recorded: Positioned) -> None:
        super().__init__(
            f"the event {recorded.topic!r} at position {recorded.position}"
        )


def _reason(error: Exception) -> str:
    """Describe the failure and its position, without any value from the event."""
    if isinstance(error, UnappliedEventError):
        return f"can't apply {error}: {_cause(error.__cause__)}"
    if isinstance(error, UnreadableEventError | LogTooShortError | LogRewrittenError):
        return f"{error}: {type(error.__cause__ or error).__name__}"
    return type(error).__name__


def _cause(cause: BaseException | None) -> str:
    """Return the kind of an error; of one that our own SQL raises, what it says."""
    if isinstance(cause, RaiseException) and cause.diag.message_primary:
        return cause.diag.message_primary
    return type(cause).__name__


def _is_transient(error: Exception) -> bool:
    """Tell whether the next attempt may succeed without an operator."""
    if isinstance(error, psycopg.Error):
        return passes_by_itself(error)
    return isinstance(error, OSError | ReplacedError)
