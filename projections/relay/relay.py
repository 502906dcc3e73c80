"""The follower that publishes the log to Kafka: in order, each event exactly once."""

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from random import SystemRandom
from typing import Final
from uuid import UUID, uuid4

import orjson
import psycopg
from psycopg.types.json import set_json_loads

from agent_runtime_client.kafka.errors import LogEpochChangedError, TopicRefusedError
from projections.relay import relay_position
from projections.relay.batch_reader import BatchReader, MessageBatch
from projections.relay.kafka.errors import (
    FencedError,
    LogBehindTopicError,
    PublishError,
    RecordTooLargeError,
)
from projections.relay.kafka.publisher import TransactionalPublisher
from projections.relay.kafka.settings import KafkaSettings, LogIdentity
from projections.relay.kafka.topic_state import require_same_event
from projections.relay.messages import MessageBuilder, NotPublicError
from projections.relay.metrics import PUBLISHED, TRANSACTIONS, RelayMetrics
from projections.relay.public_event import public_events
from projections.relay.relay_position import RelayPosition
from service.database import Db, connect, deadline, passes_by_itself
from service.event_log.commit_notifier import wait_for_commit
from service.event_log.log import EventLog
from service.event_log.mapper import UnreadableEventError
from service.outages import Outage
from service.spans import NOT_TRACED, Spans
from service.tasks import end_tasks

POLL_S: Final = 0.5
STANDBY_S: Final = 1.0
STEP_TIMEOUT_S: Final = 10.0
PAUSE_MIN_S: Final = 0.2
PAUSE_MAX_S: Final = 10.0
STOPPED_RETRY_S: Final = 30.0

MakePublisher = Callable[[KafkaSettings, LogIdentity], TransactionalPublisher]
logger = logging.getLogger(__name__)


class Relay:
    """Copies the log to a topic while it holds the lock of the active relay.

    The lock only keeps relays from fencing each other forever. Exactly once rests on
    Kafka alone: each publisher fences the previous one and then reads how far that one
    got.
    """

    def __init__(
        self,
        log: EventLog,
        conninfo: str,
        settings: KafkaSettings,
        *,
        make_publisher: MakePublisher = TransactionalPublisher,
        traces: Spans | None = None,
        stopped_retry_s: float = STOPPED_RETRY_S,
    ) -> None:
        self.metrics = RelayMetrics(relay_position.FOLLOWER, settings.topic)
        self._log = log
        self._conninfo = conninfo
        self._settings = settings
        self._make_publisher = make_publisher
        self._traces = traces
        self._stopped_retry_s = stopped_retry_s
        self._relay_id = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"
        self._failures = 0
        self._outage = Outage()

    async def run(self) -> None:
        """Publish until cancelled; nothing but a cancellation ends it."""
        while True:
            try:
                await self._lead()
            except Exception as error:
                if _is_transient(error):
                    logger.log(
                        self._outage.level(reason_of(error)),
                        "relay interrupted",
                        extra={
                            "error": type(error).__name__,
                            "reason": details_of(error),
                        },
                    )
                    self.metrics.interrupted(error)
                    await asyncio.sleep(self._pause_s())
                else:
                    reason = reason_of(error)
                    logger.log(
                        self._outage.level(reason, logging.ERROR),
                        "relay stopped",
                        exc_info=error,
                        extra={"reason": reason},
                    )
                    self.metrics.stopped(error, reason)
                    # Retried because an operator may repair the topic meanwhile.
                    await asyncio.sleep(self._stopped_retry_s)

    async def _lead(self) -> None:
        async with await connect(self._conninfo) as db:
            set_json_loads(orjson.loads, db)
            while not await self._is_leader(db):
                self.metrics.standby()
                await asyncio.sleep(STANDBY_S)
            with deadline(db, STEP_TIMEOUT_S):
                # The stored position is a copy: it may lag behind, but never be ahead.
                await db.execute("SET synchronous_commit = off")
                log_id, epoch, head = await relay_position.log_head(db)
                stored = RelayPosition(db, self._settings.topic, epoch)
                remembered = await stored.read()
                # Shows the lag even if Kafka doesn't answer.
                since = await relay_position.recorded_at(db, remembered + 1)
            self.metrics.behind(remembered, head, since)
            try:
                await self._publish(db, stored, log_id, epoch, remembered)
            except FencedError:
                raise
            except Exception as error:
                # Written while the lock is held; the next active relay clears it.
                with contextlib.suppress(psycopg.Error), deadline(db, STEP_TIMEOUT_S):
                    await stored.set_stopped(reason_of(error))
                raise

    async def _is_leader(self, db: Db) -> bool:
        with deadline(db, STEP_TIMEOUT_S):
            return await relay_position.is_leader(db)

    async def _publish(
        self,
        db: Db,
        stored: RelayPosition,
        log_id: UUID,
        epoch: UUID,
        remembered: int,
    ) -> None:
        identity = LogIdentity(
            log_id=str(log_id), log_epoch=str(epoch), relay_id=self._relay_id
        )
        publisher = self._make_publisher(self._settings, identity)
        mapper = self._log.mapper
        messages = MessageBuilder(log_id, epoch, public_events(mapper.event_types))
        batches = BatchReader(db, mapper, messages)
        try:
            published = await publisher.start(remembered=remembered)
            position, event_id = published.position, published.event_id
            # Read after fencing: until then another relay may publish beyond it.
            with deadline(db, STEP_TIMEOUT_S):
                published.require_log_head((await relay_position.log_head(db))[2])
                await stored.advance(position)
            with self._log.notifier.subscribe() as committed:
                while True:
                    head = await self._head(db, epoch, position, event_id)
                    with deadline(db, STEP_TIMEOUT_S):
                        batch = await batches.next(after=position, upto=head)
                    if batch is None:
                        self._note_success()
                        await wait_for_commit(committed, POLL_S)
                        continue
                    self.metrics.behind_since = batch.recorded_at
                    with self._traced(batch):
                        published_now = await publisher.publish(
                            batch.messages, position=batch.position
                        )
                    PUBLISHED.inc(published_now)
                    TRANSACTIONS.inc()
                    self._failures = 0
                    self._note_success()
                    position, event_id = batch.position, batch.event_id
                    self.metrics.following(position, head)
                    with deadline(db, STEP_TIMEOUT_S):
                        await stored.advance(position)
        finally:
            await publisher.close()

    def _traced(self, batch: MessageBatch) -> AbstractContextManager[None]:
        if self._traces is None:
            return NOT_TRACED
        return self._traces.transaction(
            self._settings.topic,
            batch.traceparents,
            len(batch.messages),
            batch.position,
        )

    async def _head(
        self, db: Db, epoch: UUID, position: int, event_id: str | None
    ) -> int:
        """Return how far to publish: up to where no fail-over can undo the log.

        Checks that the log continues what is published.
        """
        with deadline(db, STEP_TIMEOUT_S):
            current, head, found = await relay_position.head_and_event_id(db, position)
        if current != epoch:
            raise LogEpochChangedError(
                f"the log was restored: its epoch was {epoch} and is now {current}"
            )
        if head < position:
            raise LogBehindTopicError(
                f"the topic holds position {position}, but the log ends at {head}"
            )
        require_same_event(position, event_id, found)
        self.metrics.following(position, head)
        return min(head, self._log.durable.position(epoch))

    def _note_success(self) -> None:
        if self._outage.has_ended():
            logger.info("relay publishes again")

    def _pause_s(self) -> float:
        """Return the next pause: exponential backoff with jitter."""
        pause_s: float = min(PAUSE_MIN_S * 2**self._failures, PAUSE_MAX_S)
        self._failures = min(self._failures + 1, 16)
        return pause_s * SystemRandom().uniform(0.5, 1.0)


@asynccontextmanager
async def run_relay(
    log: EventLog,
    conninfo: str,
    settings: KafkaSettings,
    *,
    traces: Spans | None = None,
) -> AsyncIterator[Relay]:
    """Run a relay until the block ends."""
    relay = Relay(log, conninfo, settings, traces=traces)
    task = asyncio.create_task(relay.run(), name="relay")
    try:
        yield relay
    finally:
        await end_tasks(task)


def reason_of(error: Exception) -> str:
    """Return why the relay stopped, for the public probe: no address and no value."""
    if isinstance(error, PublishError):
        cause = type(error.__cause__).__name__ if error.__cause__ else "no cause"
        return f"{type(error).__name__}: {cause}"
    if isinstance(error, TopicRefusedError | NotPublicError | UnreadableEventError):
        return f"{type(error).__name__}: {error}"
    return type(error).__name__


def details_of(error: Exception) -> str:
    """Return why, for the operator's log: with the broker's address and answer."""
    return str(error) if isinstance(error, PublishError) else reason_of(error)


def _is_transient(error: Exception) -> bool:
    """Tell whether the next attempt may succeed without an operator."""
    if isinstance(error, RecordTooLargeError):
        return False
    if isinstance(error, psycopg.Error):
        return passes_by_itself(error)
    return isinstance(error, PublishError | OSError)
