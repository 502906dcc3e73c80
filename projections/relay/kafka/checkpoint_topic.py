"""The topic of signed checkpoints: one partition, each record a signed note."""

# mypy: untyped-calls-exclude="aiokafka"

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from aiokafka import AIOKafkaProducer, TopicPartition

from agent_runtime_client.kafka.topic_end import last_records
from projections.relay.kafka.clients import TransactionalProducer
from projections.relay.kafka.errors import translate_errors
from projections.relay.kafka.settings import KafkaSettings
from projections.relay.kafka.topic_reader import topic_consumer

CONTENT_TYPE: Final = ("content-type", b"text/plain; charset=utf-8")


@dataclass(frozen=True, slots=True)
class KeptNote:
    """A record of the topic: the id of the log that wrote it, and the signed note."""

    log_id: str
    note: str


class CheckpointTopic:
    """Publishes notes until an error; then use a new one.

    A new one fences its predecessor, so that sizes ascend even if a process that was
    paused continues.
    """

    def __init__(self, producer: TransactionalProducer, topic: str) -> None:
        self._producer = producer
        self._topic = topic

    async def publish(self, log_id: str, note: str) -> None:
        """Append a note, and return once it is committed.

        :raises PublishError: it may be committed or not
        """

        async def send(producer: AIOKafkaProducer) -> None:
            async with producer.transaction():
                await producer.send_and_wait(
                    self._topic,
                    note.encode(),
                    log_id.encode(),
                    0,
                    headers=[CONTENT_TYPE],
                )

        await self._producer.run("publish a checkpoint", send)


@asynccontextmanager
async def checkpoint_topic(settings: KafkaSettings) -> AsyncIterator[CheckpointTopic]:
    """Fence the topic's previous producer, and publish to it until the block ends.

    :raises PublishError: the broker doesn't answer, or not in time
    """
    producer = TransactionalProducer(settings, settings.checkpoint_transactional_id)
    try:
        await producer.start()
        yield CheckpointTopic(producer, settings.checkpoint_topic)
    finally:
        await producer.close()


async def read_last_note(settings: KafkaSettings) -> KeptNote | None:
    """Return the topic's last record; None if the topic is empty.

    :raises TopicRefusedError: the topic is missing or has several partitions
    :raises PublishError: the broker doesn't answer, or not in time
    """
    topic = settings.checkpoint_topic
    only = TopicPartition(topic, 0)
    async with topic_consumer(settings, {topic: 1}) as consumer:
        with translate_errors("read the topic of checkpoints"):
            async with asyncio.timeout(settings.deadline_s):
                starts = await consumer.beginning_offsets([only])
                ends = await consumer.end_offsets([only])
                spans = {only: (starts[only], ends[only])}
                last = (await last_records(consumer, spans)).get(only)
    if last is None:
        return None
    key, value = last.key or b"", last.value or b""
    return KeptNote(key.decode(errors="replace"), value.decode(errors="replace"))
