"""The topic of signed checkpoints: one partition, each record a signed note."""

# mypy: untyped-calls-exclude="aiokafka"

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from projections.relay.kafka.ending import end_consumer, end_producer
from projections.relay.kafka.errors import (
    TopicMissingError,
    TopicSettingsError,
    translate_errors,
)
from projections.relay.kafka.settings import (
    TRANSACTION_TIMEOUT_S,
    KafkaSettings,
    client_options,
)
from projections.relay.kafka.topic_reader import FETCH_WAIT_MS, last_records

CONTENT_TYPE: Final = ("content-type", b"text/plain; charset=utf-8")


@dataclass(frozen=True, slots=True)
class KeptNote:
    """A record of the topic: which log wrote it, and the note itself."""

    log_id: str
    note: str


class CheckpointTopic:
    """Writes notes to the topic until something fails; then make another.

    Each shuts out the one before it, so that sizes ascend also when a process that
    was paused goes on.
    """

    def __init__(self, producer: AIOKafkaProducer, settings: KafkaSettings) -> None:
        self._producer = producer
        self._settings = settings

    async def publish(self, log_id: str, note: str) -> None:
        """Append a note, and return once it can't be lost.

        :raises PublishError: it may be there or not; use a fresh instance
        """
        topic = self._settings.checkpoint_topic
        with translate_errors("publish a checkpoint"):
            async with asyncio.timeout(self._settings.deadline_s):
                async with self._producer.transaction():
                    await self._producer.send_and_wait(
                        topic, note.encode(), log_id.encode(), 0, headers=[CONTENT_TYPE]
                    )


@asynccontextmanager
async def checkpoint_topic(settings: KafkaSettings) -> AsyncIterator[CheckpointTopic]:
    """Shut out who writes to the topic, and write to it until the block ends.

    :raises PublishError: the broker doesn't answer, or not in time
    """
    producer = AIOKafkaProducer(
        **client_options(settings),
        transactional_id=settings.checkpoint_transactional_id,
        transaction_timeout_ms=round(TRANSACTION_TIMEOUT_S * 1000),
    )
    try:
        with translate_errors("start the producer of checkpoints"):
            async with asyncio.timeout(settings.deadline_s):
                await producer.start()
        yield CheckpointTopic(producer, settings)
    finally:
        await end_producer(producer)


async def read_last_note(settings: KafkaSettings) -> KeptNote | None:
    """Return the topic's last record; None of an empty topic.

    :raises TopicRefusedError: there is no such topic, or not of one partition
    :raises PublishError: the broker doesn't answer, or not in time
    """
    consumer = AIOKafkaConsumer(
        **client_options(settings),
        isolation_level="read_committed",
        enable_auto_commit=False,
        fetch_max_wait_ms=FETCH_WAIT_MS,
    )
    try:
        with translate_errors("read the topic of checkpoints"):
            async with asyncio.timeout(settings.deadline_s):
                await consumer.start()
                return await _last_note(consumer, settings.checkpoint_topic)
    finally:
        await end_consumer(consumer)


async def _last_note(consumer: AIOKafkaConsumer, topic: str) -> KeptNote | None:
    # Of all topics: asking for one by name creates it where a cluster allows that.
    cluster = await consumer._client.fetch_all_metadata()  # noqa: SLF001
    partitions = cluster.partitions_for_topic(topic)
    if not partitions:
        raise TopicMissingError(
            f"there is no topic {topic}: agent-runtime topic create makes it"
        )
    if len(partitions) != 1:
        raise TopicSettingsError(
            f"topic {topic} has {len(partitions)} partitions instead of 1"
        )
    only = TopicPartition(topic, 0)
    consumer.assign([only])
    starts = await consumer.beginning_offsets([only])
    ends = await consumer.end_offsets([only])
    last = await last_records(consumer, {only: (starts[only], ends[only])})
    if only not in last:
        return None
    key, value = last[only].key or b"", last[only].value or b""
    return KeptNote(key.decode(errors="replace"), value.decode(errors="replace"))
