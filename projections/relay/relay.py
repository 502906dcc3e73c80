"""The follower that publishes the log: in order, each event once."""

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import SystemRandom
from typing import Any, Final
from uuid import UUID, uuid4

import orjson
import psycopg
from psycopg import AsyncConnection
from psycopg.types.json import set_json_loads

from projections.relay import place as places
from projections.relay.batches import Batches
from projections.relay.kafka.errors import (
    FencedError,
    LogEpochChangedError,
    PublishError,
    RecordTooLargeError,
    TopicRefusedError,
)
from projections.relay.kafka.publisher import TransactionalPublisher
from projections.relay.kafka.settings import KafkaSettings, LogIdentity
from projections.relay.messages import Messages, NotPublicError
from projections.relay.place import Place
from projections.relay.progress import PUBLISHED, TRANSACTIONS, Progress
from service.database import deadline
from service.event_log.commit_notifier import wait_for
from service.event_log.log import EventLog
from service.event_log.mapper import UnreadableEventError

POLL_S: Final = 0.5
STANDBY_S: Final = 1.0
STEP_TIMEOUT_S: Final = 10.0
PAUSE_MIN_S: Final = 0.2
PAUSE_MAX_S: Final = 10.0
STOPPED_RETRY_S: Final = 30.0

MakePublisher = Callable[[KafkaSettings, LogIdentity], TransactionalPublisher]
logger = logging.getLogger(__name__)


class Relay:
    """Copies the log to a topic, for as long as it holds the relays' lock.

    The lock only keeps relays from fencing each other for ever. That an event is
    published once rests on Kafka alone: each publisher shuts out the one before it
    and only then asks how far that one came.
    """

    def __init__(
        self,
        log: EventLog,
        conninfo: str,
        settings: KafkaSettings,
        *,
        make_publisher: MakePublisher = TransactionalPublisher,
        stopped_retry_s: float = STOPPED_RETRY_S,
    ) -> None:
        self.progress = Progress(places.FOLLOWER)
        self._log = log
        self._conninfo = conninfo
        self._settings = settings
        self._make_publisher = make_publisher
        self._stopped_retry_s = stopped_retry_s
        self._relay_id = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"
        self._failures = 0

    async def run(self) -> None:
        """Publish until cancelled; nothing but a cancellation ends it."""
        while True:
            try:
                await self._lead()
            except Exception as error:
                if _will_pass(error):
                    logger.warning(
                        "relay interrupted",
                        extra={"error": type(error).__name__, "reason": words(error)},
                    )
                    self.progress.interrupted(error)
                    await asyncio.sleep(self._pause_s())
                else:
                    reason = reason_of(error)
                    logger.exception("relay stopped", extra={"reason": reason})
                    self.progress.stopped(error, reason)
                    # A person may mend the topic meanwhile; looking again is safe.
                    await asyncio.sleep(self._stopped_retry_s)

    async def _lead(self) -> None:
        async with await AsyncConnection.connect(
            self._conninfo, autocommit=True, connect_timeout=5
        ) as db:
            # The place is a mirror, which may lag behind but never be ahead.
            await db.execute("SET synchronous_commit = off")
            set_json_loads(orjson.loads, db)
            while not await places.is_locked(db):
                self.progress.standby()
                await asyncio.sleep(STANDBY_S)
            log_id, epoch, head = await places.identify(db)
            place = Place(db, self._settings.topic, epoch)
            remembered = await place.take()
            await self._look_behind(db, remembered, head)
            try:
                await self._publish(db, place, log_id, epoch, remembered)
            except FencedError:
                raise
            except Exception as error:
                # Written while the lock is held: whoever leads next clears it.
                with contextlib.suppress(psycopg.Error):
                    await place.stop(reason_of(error))
                raise

    async def _publish(
        self,
        db: AsyncConnection[Any],
        place: Place,
        log_id: UUID,
        epoch: UUID,
        remembered: int,
    ) -> None:
        identity = LogIdentity(
            log_id=str(log_id), log_epoch=str(epoch), relay_id=self._relay_id
        )
        publisher = self._make_publisher(self._settings, identity)
        batches = Batches(db, self._log.mapper, Messages(log_id, epoch))
        try:
            published = await publisher.start(remembered=remembered)
            position = published.position
            # Only behind the fence can nobody publish beyond the head.
            published.require_log_head((await places.identify(db))[2])
            await place.move(position)
            with self._log.doorbell.bell() as bell:
                while True:
                    head = await self._head(db, epoch, position)
                    with deadline(db, STEP_TIMEOUT_S):
                        batch = await batches.next(after=position, upto=head)
                    if batch is None:
                        await wait_for(bell, POLL_S)
                        continue
                    self.progress.behind_since = batch.recorded_at
                    PUBLISHED.inc(
                        await publisher.publish(batch.messages, position=batch.position)
                    )
                    TRANSACTIONS.inc()
                    self._failures = 0
                    position = batch.position
                    self.progress.following(position, head)
                    with deadline(db, STEP_TIMEOUT_S):
                        await place.move(position)
        finally:
            await publisher.close()

    async def _head(self, db: AsyncConnection[Any], epoch: UUID, position: int) -> int:
        with deadline(db, STEP_TIMEOUT_S):
            _, current, head = await places.identify(db)
        if current != epoch:
            raise LogEpochChangedError(
                f"the log was restored: its epoch was {epoch} and is now {current}"
            )
        self.progress.following(position, head)
        return head

    async def _look_behind(
        self, db: AsyncConnection[Any], remembered: int, head: int
    ) -> None:
        """Know the lag, should Kafka not answer: events go on being recorded."""
        self.progress.behind_since = await places.recorded_at(db, remembered + 1)
        self.progress.status.position = remembered
        self.progress.status.head = head
        self.progress.status.report()

    def _pause_s(self) -> float:
        """Return a pause that grows with each failure, and never is quite the same."""
        pause_s: float = min(PAUSE_MIN_S * 2**self._failures, PAUSE_MAX_S)
        self._failures = min(self._failures + 1, 16)
        return pause_s * SystemRandom().uniform(0.5, 1.0)


@asynccontextmanager
async def run_relay(
    log: EventLog, conninfo: str, settings: KafkaSettings
) -> AsyncIterator[Relay]:
    """Run a relay until the block ends."""
    relay = Relay(log, conninfo, settings)
    task = asyncio.create_task(relay.run(), name="relay")
    try:
        yield relay
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def reason_of(error: Exception) -> str:
    """Say why, for anyone who may look at a probe: no address and no value."""
    if isinstance(error, PublishError):
        cause = type(error.__cause__).__name__ if error.__cause__ else "no cause"
        return f"{type(error).__name__}: {cause}"
    if isinstance(error, TopicRefusedError | NotPublicError | UnreadableEventError):
        return f"{type(error).__name__}: {error}"
    return type(error).__name__


def words(error: Exception) -> str:
    """Say more to the operator, who alone reads the log: which broker, and why."""
    return str(error) if isinstance(error, PublishError) else reason_of(error)


def _will_pass(error: Exception) -> bool:
    """Tell what may be over by the next attempt from what a person must decide."""
    if isinstance(error, RecordTooLargeError):
        return False
    return isinstance(error, PublishError | psycopg.OperationalError | OSError)
