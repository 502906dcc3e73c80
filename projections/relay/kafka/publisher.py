"""Publishes the log in transactions, each event exactly once, with the position."""

# mypy: untyped-calls-exclude="aiokafka"

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.errors import IllegalOperation
from aiokafka.partitioner import murmur2
from aiokafka.structs import RecordMetadata

from agent_runtime_client.kafka.topic_end import POSITION_HEADER
from projections.relay.kafka.clients import TransactionalProducer
from projections.relay.kafka.errors import PublishError
from projections.relay.kafka.settings import KafkaSettings, LogIdentity
from projections.relay.kafka.topic_reader import (
    read_ends,
    relay_partitions,
    topic_consumer,
)
from projections.relay.kafka.topic_state import (
    ID_HEADER,
    PositionRecord,
    Published,
    encode_position,
    verify_topic,
)

BARRIER_KEY: Final = b"relay-barrier"
KEYS_REMEMBERED: Final = 65_536


@dataclass(frozen=True, slots=True)
class KafkaMessage:
    """One event for the topic; the publisher adds the header with its position."""

    key: bytes
    value: bytes | None
    headers: Sequence[tuple[str, bytes]]
    position: int


class TransactionalPublisher:
    """Start it, publish until an error, close it; then use a new one.

    After an error only a new one knows whether the last transaction was committed.
    """

    def __init__(self, settings: KafkaSettings, log: LogIdentity) -> None:
        self._settings = settings
        self._log = log
        self._producer: TransactionalProducer | None = None
        self._published: Published | None = None

    async def start(self, *, remembered: int = 0) -> Published:
        """Fence every older relay, then return what is published.

        The order is the guarantee: a position that is read before fencing may be
        overtaken by the relay that isn't fenced yet. `remembered` is the last
        published position that the caller knows of; see `verify_topic`.
        """
        await self._fence()
        return await self._read_published(remembered)

    async def publish(self, messages: Sequence[KafkaMessage], *, position: int) -> int:
        """Commit messages and position together; return how many messages were new.

        Messages are in the log's order. `position` is how far the log was read, which
        is beyond the last message if later events aren't published.

        :raises PublishError: they may be committed or not; use a new publisher
        """
        published = self._published
        if published is None or self._producer is None:
            raise PublishError("this publisher isn't started, or has failed")
        _require_order(messages, published.position, position)
        self._published = None
        sent, tails = await self._producer.run(
            f"publish up to position {position}",
            lambda it: self._commit(it, published, messages, position),
        )
        event_id = _id_at(position, messages)
        self._published = Published(position=position, tails=tails, event_id=event_id)
        return sent

    async def close(self) -> None:
        """Stop the producer in bounded time, even if the broker doesn't answer."""
        self._published = None
        producer, self._producer = self._producer, None
        if producer is not None:
            await producer.close()

    async def _fence(self) -> None:
        if self._producer is not None:
            raise PublishError("this publisher was started before")
        self._producer = TransactionalProducer(
            self._settings, self._settings.transactional_id
        )
        await self._producer.start()

    async def _read_published(self, remembered: int) -> Published:
        async with topic_consumer(self._settings) as consumer:
            barrier = await self._write_barrier()
            contents = await read_ends(consumer, self._settings, at_least=barrier)
        self._published = verify_topic(contents, self._log, remembered=remembered)
        return self._published

    async def _write_barrier(self) -> Mapping[TopicPartition, int]:
        """Write to every partition; return the offsets that a reader must reach.

        What was committed may still be hidden by another producer's open transaction,
        or by a leader that doesn't know yet how far its followers are; a position read
        then is outdated. The records are aborted, so consumers never see them.
        """
        partitions = relay_partitions(self._settings)

        async def write(producer: AIOKafkaProducer) -> list[RecordMetadata]:
            await producer.begin_transaction()
            sends = _Sends(producer)
            for each in partitions:
                await sends.add(each, BARRIER_KEY, None)
            written = await sends.acknowledged()
            await producer.abort_transaction()
            return written

        assert self._producer is not None
        written = await self._producer.run("write to every partition", write)
        offsets = (record.offset for record in written)
        return dict(zip(partitions, offsets, strict=True))

    async def _commit(
        self,
        producer: AIOKafkaProducer,
        published: Published,
        messages: Sequence[KafkaMessage],
        position: int,
    ) -> tuple[int, Mapping[int, int]]:
        [at, *partitions] = relay_partitions(self._settings)
        tails = dict(published.tails)
        await producer.begin_transaction()
        sends = _Sends(producer)
        for message in messages:
            number = partition_of(message.key, len(partitions))
            # Should Kafka ever have committed events without their position, they
            # aren't sent again.
            if message.position <= tails.get(number, 0):
                continue
            tails[number] = message.position
            header = (POSITION_HEADER, encode_position(message.position))
            headers = [*message.headers, header]
            await sends.add(partitions[number], message.key, message.value, headers)
        event_id = _id_at(position, messages)
        record = PositionRecord.now(self._log, position, tails, event_id)
        await sends.add(at, record.key, record.value)
        written = await sends.acknowledged()
        await producer.commit_transaction()
        return len(written) - 1, tails


class _Sends:
    """The records of one transaction that are sent but perhaps not acknowledged."""

    def __init__(self, producer: AIOKafkaProducer) -> None:
        self._producer = producer
        self._sends: list[asyncio.Future[RecordMetadata]] = []

    async def add(
        self,
        partition: TopicPartition,
        key: bytes,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes]] = (),
    ) -> None:
        try:
            send = await self._producer.send(
                partition.topic, value, key, partition.partition, headers=headers
            )
        except IllegalOperation:
            # The producer has failed meanwhile; the records sent before say why.
            await self.acknowledged()
            raise
        self._sends.append(send)

    async def acknowledged(self) -> list[RecordMetadata]:
        """Wait for every record: aiokafka commits even if the broker refused some.

        One by one, as a whole batch is acknowledged at once: gather() would add a
        callback for each.
        """
        return [await send for send in self._sends]


@lru_cache(maxsize=KEYS_REMEMBERED)
def partition_of(key: bytes, partitions: int) -> int:
    """Return the partition of a key, as Kafka's default partitioner does."""
    return int(murmur2(key) & 0x7FFFFFFF) % partitions


def _id_at(position: int, messages: Sequence[KafkaMessage]) -> str | None:
    """Return the id of the last message if it is at a position."""
    if not messages or messages[-1].position != position:
        return None
    event_id = dict(messages[-1].headers).get(ID_HEADER)
    return event_id.decode() if event_id else None


def _require_order(
    messages: Sequence[KafkaMessage], published: int, position: int
) -> None:
    positions = [published, *(message.position for message in messages)]
    ascending = all(a < b for a, b in pairwise(positions))
    if not ascending or position < positions[-1] or position == published:
        raise ValueError(
            f"messages must be in order, after {published} and up to {position}"
        )
