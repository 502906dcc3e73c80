"""The engine that all projectors run on."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import AsyncConnection

from projections.engine.follower_position import Place, ReplacedError, record_stop
from projections.engine.progress import FollowerStatus
from projections.engine.projector import Placed, Projector
from projections.engine.rebuild import create_indexes, create_tables, rebuild
from service.database import deadline
from service.event_log import reader
from service.event_log.commit_notifier import wait_for
from service.event_log.log import EventLog
from service.event_log.mapper import UnreadableEventError

BATCH_EVENTS_MAX = 1000
STEP_TIMEOUT_S = 120.0
POLL_S = 0.5
# A step costs about as much for one event as for fifty: while they come in numbers,
# fewer steps leave more room for those who append.
STEP_INTERVAL_S = 0.02
BUSY_EVENTS = 10
STANDBY_S = 1.0
RECONNECT_S = 0.5
STOPPED_RETRY_S = 30.0
# SQLSTATE classes of a server that can't do anything just now.
UNABLE = frozenset({"08", "25", "40", "53", "55", "57"})

LOCK = "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))"

logger = logging.getLogger(__name__)


class LogTooShortError(Exception):
    """The log ends before an event that has been applied, in the same epoch.

    It was restored without a new epoch, so nobody can say which of the applied
    events it still has.
    """


class Follower:
    """Keeps one projector's tables up to the log.

    One instance of each follower is active at a time, by an advisory lock; its
    place is compared when it moves, so that one that was paused and replaced can't
    write any more.
    """

    def __init__(
        self,
        projector: Projector,
        log: EventLog,
        conninfo: str,
        *,
        stopped_retry_s: float = STOPPED_RETRY_S,
    ) -> None:
        self.status = FollowerStatus(projector.name)
        self._projector = projector
        self._log = log
        self._conninfo = conninfo
        self._stopped_retry_s = stopped_retry_s
        self._batch_max = BATCH_EVENTS_MAX

    async def run(self) -> None:
        """Follow until cancelled; reconnect, stand by and retry as it takes."""
        while True:
            try:
                await self._lead()
            except Exception as error:
                if _will_pass(error):
                    logger.warning(
                        "follower interrupted",
                        extra={"follower": self.name},
                        exc_info=error,
                    )
                    if self.status.state != "stopped":
                        self.status.state = "interrupted"
                    await asyncio.sleep(RECONNECT_S)
                else:
                    # Never past an event that can't be applied; other followers go on.
                    logger.exception("follower stopped", extra={"follower": self.name})
                    await self._stop(error)
                    await asyncio.sleep(self._stopped_retry_s)

    @property
    def name(self) -> str:
        return self._projector.name

    async def _lead(self) -> None:
        async with await AsyncConnection.connect(
            self._conninfo, autocommit=True, connect_timeout=5
        ) as db:
            while not await self._locked(db):
                self.status.state, self.status.reason = "standby", None
                self.status.report()
                await asyncio.sleep(STANDBY_S)
            place = await self._take_place(db)
            await db.execute("SET search_path = read")
            self._batch_max = BATCH_EVENTS_MAX
            with self._log.doorbell.bell() as bell:
                clock = asyncio.get_running_loop().time
                while True:
                    before, next_step = self.status.position, clock() + STEP_INTERVAL_S
                    with deadline(db, STEP_TIMEOUT_S):
                        is_behind = await self._step(db, place)
                    if not is_behind:
                        if self.status.position - before >= BUSY_EVENTS:
                            await asyncio.sleep(next_step - clock())
                        await wait_for(bell, POLL_S)

    async def _locked(self, db: AsyncConnection[Any]) -> bool:
        cursor = await db.execute(LOCK, [f"agent-runtime follower {self.name}"])
        row = await cursor.fetchone()
        return bool(row and row[0])

    async def _take_place(self, db: AsyncConnection[Any]) -> Place:
        """Find the place to go on from; make or rebuild the tables where needed."""
        _, epoch = await reader.head(db)
        place = Place.of(self._projector, epoch)
        position, is_ours = await place.position(db)
        self.status.position = position or 0
        if position is None:
            is_ours = await self._began(db, place)
        if not is_ours:
            self.status.state = "rebuilding"
            self.status.position = await rebuild(
                self._conninfo, self._log.mapper, self._projector
            )
        return place

    async def _began(self, db: AsyncConnection[Any], place: Place) -> bool:
        """Create empty tables; False when there are some without a place."""
        try:
            async with db.transaction():
                await create_tables(db, self._projector, "read")
                await create_indexes(db, self._projector, "read")
                await place.begin(db)
        except psycopg.errors.DuplicateTable:
            return False
        return True

    async def _step(self, db: AsyncConnection[Any], place: Place) -> bool:
        """Apply one batch and return whether there is more."""
        position = self.status.position
        head, epoch, upto, is_skipped = await place.skip(db, position)
        if epoch != place.epoch:
            raise ReplacedError("the log has a new epoch")
        if head < position:
            raise LogTooShortError(f"the log ends at {head}")
        self.status.head = head
        if upto > position and not is_skipped:
            try:
                upto = await self._apply_some(db, place, position, upto)
            except Exception as error:
                if _will_pass(error) or self._batch_max == 1:
                    raise
                # Again, one by one, up to the very event that can't be applied.
                self._batch_max = 1
                return True
            self._batch_max = min(self._batch_max * 2, BATCH_EVENTS_MAX)
        self.status.position = upto
        self.status.state, self.status.reason = "following", None
        self.status.report()
        return upto < head

    async def _apply_some(
        self, db: AsyncConnection[Any], place: Place, position: int, upto: int
    ) -> int:
        """Apply a batch and return how far it went."""
        events = await self._projector.read(
            db, self._log.mapper, after=position, upto=upto, limit=self._batch_max
        )
        if len(events) == self._batch_max:
            upto = events[-1].position
        try:
            await self._apply(db, place, events, position, upto)
        except Exception as error:
            if self._batch_max == 1 and events and not _will_pass(error):
                raise UnappliedEventError(events[0]) from error
            raise
        return upto

    async def _apply(
        self,
        db: AsyncConnection[Any],
        place: Place,
        events: Sequence[Placed],
        position: int,
        upto: int,
    ) -> None:
        async with db.transaction():
            # Moving first locks the place, as a rebuild's switch does first.
            await place.move(db, position, upto)
            if events:
                await self._projector.project(db, events)

    async def _stop(self, error: Exception) -> None:
        self.status.state = "stopped"
        self.status.reason = _reason(error)
        self.status.report()
        try:
            async with await AsyncConnection.connect(
                self._conninfo, autocommit=True, connect_timeout=5
            ) as db:
                await record_stop(
                    db, self.name, self.status.position, self.status.reason
                )
        except (psycopg.Error, OSError):
            logger.warning("can't record why", extra={"follower": self.name})


class UnappliedEventError(Exception):
    """A projector can't apply an event."""

    def __init__(self, recorded: Placed) -> None:
        super().__init__(
            f"the event {recorded.topic!r} at position {recorded.position}"
        )


def _reason(error: Exception) -> str:
    """Say what and where; never a value, which could be anybody's."""
    if isinstance(error, UnappliedEventError):
        return f"can't apply {error}: {type(error.__cause__).__name__}"
    if isinstance(error, UnreadableEventError | LogTooShortError):
        return f"{error}: {type(error.__cause__ or error).__name__}"
    return type(error).__name__


def _will_pass(error: Exception) -> bool:
    """Tell a lost connection, or a database that can't just now, from a fault."""
    if isinstance(error, psycopg.OperationalError):
        return error.sqlstate is None or error.sqlstate[:2] in UNABLE
    return isinstance(error, OSError | ReplacedError)
