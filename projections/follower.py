"""The engine that all projectors run on."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import psycopg
from psycopg import AsyncConnection

from projections.position import FollowerStatus
from projections.projector import Projector
from projections.rebuild import create_tables, rebuild
from service.event_log import reader
from service.event_log.doorbell import wait_for
from service.event_log.log import EventLog
from service.event_log.mapper import RecordedEvent

BATCH_EVENTS_MAX = 1000
SCAN_POSITIONS_MAX = 50_000
POLL_S = 0.5
STANDBY_S = 1.0
RECONNECT_S = 0.5
STOPPED_RETRY_S = 30.0

LOCK = "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))"
PLACE = """
    SELECT position, epoch, definition FROM read.position WHERE follower = %s
"""
BEGIN_PLACE = """
    INSERT INTO read.position (follower, position, epoch, definition)
    VALUES (%s, 0, %s, %s)
"""
# Locking first keeps the order of locks the same as in a rebuild's switch.
LOCK_PLACE = "SELECT position FROM read.position WHERE follower = %s FOR UPDATE"
MOVE = """
    UPDATE read.position
       SET position = %s, reason = NULL, moved_at = now()
     WHERE follower = %s AND position = %s
"""
STOP = "UPDATE read.position SET reason = %s WHERE follower = %s"

logger = logging.getLogger(__name__)


class ReplacedError(Exception):
    """Another instance has moved this follower's position."""


class Follower:
    """Keeps one projector's tables up to the log.

    One instance of each follower is active at a time, by an advisory lock; the
    position is compared when it moves, so that one that was paused and replaced
    can't write any more.
    """

    def __init__(self, projector: Projector, log: EventLog, conninfo: str) -> None:
        self.status = FollowerStatus(projector.name)
        self._projector = projector
        self._log = log
        self._conninfo = conninfo
        self._batch_max = BATCH_EVENTS_MAX

    async def run(self) -> None:
        """Follow until cancelled; reconnect, stand by and retry as it takes."""
        while True:
            try:
                await self._lead()
            except (psycopg.OperationalError, OSError, ReplacedError):
                logger.warning("follower interrupted", extra={"follower": self.name})
                await asyncio.sleep(RECONNECT_S)
            except Exception as error:
                # Never past an event that can't be applied; other followers go on.
                logger.exception("follower stopped", extra={"follower": self.name})
                self.status.state = "stopped"
                self.status.reason = f"{type(error).__name__} after {self._place()}"
                self.status.report()
                await self._tell_why()
                await asyncio.sleep(STOPPED_RETRY_S)

    @property
    def name(self) -> str:
        return self._projector.name

    async def _lead(self) -> None:
        async with await AsyncConnection.connect(
            self._conninfo, autocommit=True, connect_timeout=5
        ) as db:
            while not await self._locked(db):
                self.status.state = "standby"
                await asyncio.sleep(STANDBY_S)
            epoch = await self._take_place(db)
            await db.execute("SET search_path = read")
            self.status.state = "following"
            with self._log.doorbell.bell() as bell:
                while True:
                    if not await self._step(db, epoch):
                        await wait_for(bell, POLL_S)

    async def _locked(self, db: AsyncConnection[Any]) -> bool:
        cursor = await db.execute(LOCK, [f"agent-runtime follower {self.name}"])
        row = await cursor.fetchone()
        return bool(row and row[0])

    async def _take_place(self, db: AsyncConnection[Any]) -> UUID:
        """Find the place to go on from; make or rebuild the tables where needed."""
        _, epoch = await reader.head(db)
        place = await (await db.execute(PLACE, [self.name])).fetchone()
        if place is None:
            async with db.transaction():
                await create_tables(db, self._projector, "read")
                await db.execute(
                    BEGIN_PLACE, [self.name, epoch, self._projector.definition]
                )
            self.status.position = 0
            return epoch
        self.status.position = place[0]
        if place[1:] != (epoch, self._projector.definition):
            self.status.state = "rebuilding"
            self.status.position = await rebuild(db, self._log.mapper, self._projector)
        return epoch

    async def _step(self, db: AsyncConnection[Any], epoch: UUID) -> bool:
        """Apply one batch and return whether there was anything to scan."""
        position = self.status.position
        head, current_epoch = await reader.head(db)
        if current_epoch != epoch:
            raise ReplacedError
        self.status.head = head
        self.status.report()
        if head <= position:
            return False
        upto = min(head, position + SCAN_POSITIONS_MAX)
        try:
            events = await reader.events(
                db,
                self._log.mapper,
                after=position,
                upto=upto,
                limit=self._batch_max,
                topics=self._projector.topics,
            )
            if len(events) == self._batch_max:
                upto = events[-1].position
            await self._apply(db, events, position, upto)
        except (psycopg.OperationalError, OSError, ReplacedError):
            raise
        except Exception:
            if self._batch_max == 1:
                self._batch_max = BATCH_EVENTS_MAX
                raise
            # One by one, up to the very event that can't be applied.
            self._batch_max = 1
            return True
        self.status.position = upto
        return True

    async def _apply(
        self,
        db: AsyncConnection[Any],
        events: Sequence[RecordedEvent],
        position: int,
        upto: int,
    ) -> None:
        async with db.transaction():
            place = await (await db.execute(LOCK_PLACE, [self.name])).fetchone()
            if place is None or place[0] != position:
                raise ReplacedError
            if events:
                await self._projector.project(db, events)
            await db.execute(MOVE, [upto, self.name, position])

    def _place(self) -> str:
        return f"position {self.status.position}"

    async def _tell_why(self) -> None:
        try:
            async with await AsyncConnection.connect(
                self._conninfo, autocommit=True, connect_timeout=5
            ) as db:
                await db.execute(STOP, [self.status.reason, self.name])
        except (psycopg.Error, OSError):
            logger.warning("can't record why", extra={"follower": self.name})
