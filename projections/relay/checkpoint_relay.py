"""Publishes signed checkpoints to Kafka, where database administrators can't reach."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from uuid import UUID

import psycopg
from prometheus_client import Gauge

from agent_runtime_client.kafka.errors import (
    ForeignTopicError,
    LogEpochChangedError,
    TopicRefusedError,
)
from agent_runtime_client.proofs.checkpoint import Checkpoint, origin_of
from agent_runtime_client.proofs.note import NoteError
from projections.audit.proofs.queries import SignedCheckpoint, latest_checkpoint, roots
from projections.audit.proofs.signer import FOLLOWER as TREE
from projections.engine.snapshot import snapshot_of
from projections.relay import relay_position
from projections.relay.kafka.checkpoint_topic import (
    CheckpointTopic,
    KeptNote,
    checkpoint_topic,
    read_last_note,
)
from projections.relay.kafka.errors import (
    CheckpointContradictedError,
    LogBehindTopicError,
    PublishError,
)
from projections.relay.kafka.settings import KafkaSettings
from service.database import ANSWER_TIMEOUT_S, Db, Pool, connect, deadline
from service.errors import UnavailableError
from service.outages import Outage, cause_of
from service.tasks import end_tasks

POLL_S: Final = 1.0
RETRY_S: Final = 2.0
REFUSED_RETRY_S: Final = 30.0
STANDBY_S: Final = 1.0
PUBLISHED: Final = Gauge(
    "agent_runtime_checkpoint_published_position",
    "Last position that a checkpoint on Kafka covers, published by this process.",
)
REFUSED: Final = Gauge(
    "agent_runtime_checkpoint_topic_refused",
    "1 while the checkpoints on Kafka contradict this log, or can't be published for "
    "a reason that doesn't pass by itself; the service's log has it.",
)
TRANSIENT: Final = (
    PublishError,
    UnavailableError,
    psycopg.Error,
    OSError,
)

logger = logging.getLogger(__name__)


class CheckpointRelay:
    """Publishes each new checkpoint that continues those on the topic.

    Runs beside the relay of events, so that neither delays the other.
    """

    def __init__(
        self,
        pool: Pool,
        conninfo: str,
        settings: KafkaSettings,
        *,
        poll_s: float = POLL_S,
        refused_retry_s: float = REFUSED_RETRY_S,
    ) -> None:
        self._pool = pool
        self._conninfo = conninfo
        self._settings = settings
        self._poll_s = poll_s
        self._refused_retry_s = refused_retry_s
        self._outage = Outage()

    async def run(self) -> None:
        """Publish until cancelled; retry after every failure."""
        while True:
            try:
                await self._lead()
            except TopicRefusedError as error:
                REFUSED.set(1)
                logger.log(
                    self._outage.level(str(error), logging.ERROR),
                    "checkpoint topic refused: %s",
                    error,
                )
                await asyncio.sleep(self._refused_retry_s)
            except TRANSIENT as error:
                logger.log(
                    self._outage.level(cause_of(error)),
                    "publishing of checkpoints interrupted",
                    extra={"error": type(error).__name__},
                )
                await asyncio.sleep(RETRY_S)
            except Exception as error:
                REFUSED.set(1)
                logger.log(
                    self._outage.level(cause_of(error), logging.ERROR),
                    "can't publish checkpoints",
                    exc_info=error,
                )
                await asyncio.sleep(self._refused_retry_s)

    async def _lead(self) -> None:
        """Publish while this process holds the lock."""
        async with await connect(self._conninfo) as db:
            while not await self._is_leader(db):
                # Another process publishes, whatever this one met before.
                REFUSED.set(0)
                await asyncio.sleep(STANDBY_S)
            with deadline(db, ANSWER_TIMEOUT_S):
                log_id, epoch, _ = await relay_position.log_head(db)
            async with checkpoint_topic(self._settings) as topic:
                last = await self._verified_last(log_id, epoch)
                REFUSED.set(0)
                while True:
                    last = await self._publish_next(db, topic, str(log_id), last)
                    if self._outage.has_ended():
                        logger.info("checkpoints are published again")
                    await asyncio.sleep(self._poll_s)

    async def _is_leader(self, db: Db) -> bool:
        name = f"agent-runtime checkpoints {self._settings.checkpoint_topic}"
        with deadline(db, ANSWER_TIMEOUT_S):
            return await relay_position.try_lock(db, name)

    async def _publish_next(
        self,
        db: Db,
        topic: CheckpointTopic,
        log_id: str,
        last: Checkpoint | None,
    ) -> Checkpoint | None:
        with deadline(db, ANSWER_TIMEOUT_S):
            signed = await latest_checkpoint(db)
        if signed is None:
            return last
        newest = Checkpoint.parse(signed.note)
        if last is not None:
            if newest.origin != last.origin:
                raise LogEpochChangedError("the log was restored while it was signed")
            if newest.size <= last.size:
                return last
        await topic.publish(log_id, signed.note)
        PUBLISHED.set(newest.size)
        return newest

    async def _verified_last(self, log_id: UUID, epoch: UUID) -> Checkpoint | None:
        """Return the topic's last checkpoint after proving that this log continues it.

        :raises TopicRefusedError: the log doesn't continue it
        """
        kept = await read_last_note(self._settings)
        if kept is None:
            return None
        last = _own(kept, log_id, epoch)
        async with snapshot_of(self._pool, TREE) as snapshot:
            signed = await latest_checkpoint(snapshot.db)
            _require_reached(last, signed)
            if snapshot.position < last.size:
                raise UnavailableError("the tree is being built")
            [root] = await roots(snapshot.db, last.size)
        if root != last.root:
            raise CheckpointContradictedError(
                f"the events at positions 1 to {last.size} are not those"
                f" that the checkpoint on {self._settings.checkpoint_topic} signed"
            )
        return last


def _own(kept: KeptNote, log_id: UUID, epoch: UUID) -> Checkpoint:
    try:
        last = Checkpoint.parse(kept.note)
    except NoteError as error:
        raise ForeignTopicError(
            "the last record of the topic of checkpoints is not a checkpoint"
        ) from error
    if kept.log_id != str(log_id):
        raise ForeignTopicError(
            f"the topic's checkpoints are of log {kept.log_id}, not of {log_id}"
        )
    if last.origin != origin_of(epoch):
        raise LogEpochChangedError(
            f"the topic's last checkpoint is of {last.origin}, and the log is now"
            f" {origin_of(epoch)}: it was restored"
        )
    return last


def _require_reached(last: Checkpoint, signed: SignedCheckpoint | None) -> None:
    """Refuse a log that ends before the topic's last checkpoint."""
    if signed is None or signed.size < last.size:
        raise LogBehindTopicError(
            f"the topic holds a checkpoint of position {last.size}, but this log's"
            f" last one is of {signed.size if signed else 0}"
        )


@asynccontextmanager
async def run_checkpoint_relay(
    pool: Pool, conninfo: str, settings: KafkaSettings
) -> AsyncIterator[CheckpointRelay]:
    """Publish checkpoints until the block ends."""
    relay = CheckpointRelay(pool, conninfo, settings)
    task = asyncio.create_task(relay.run(), name="checkpoint relay")
    try:
        yield relay
    finally:
        await end_tasks(task)
