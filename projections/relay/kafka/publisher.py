"""Publishing the log in transactions: each event once, and the position with it."""

# mypy: untyped-calls-exclude="aiokafka"

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.client import AIOKafkaClient
from aiokafka.conn import CloseReason
from aiokafka.errors import IllegalOperation
from aiokafka.partitioner import murmur2
from aiokafka.structs import RecordMetadata

from projections.relay.kafka.ending import end_producer, forget_outcome
from projections.relay.kafka.errors import (
    PublishError,
    raise_fatal_error,
    translate_errors,
)
from projections.relay.kafka.settings import (
    RECORD_BYTES_MAX,
    TRANSACTION_TIMEOUT_S,
    KafkaSettings,
    LogIdentity,
    client_options,
)
from projections.relay.kafka.topic_reader import (
    read_ends,
    relay_partitions,
    topic_consumer,
)
from projections.relay.kafka.topic_state import (
    POSITION_HEADER,
    PositionRecord,
    Published,
    encode_position,
    verify_topic,
)

BATCH_BYTES_MAX: Final = 512 * 1024
BARRIER_KEY: Final = b"relay-barrier"
SENDS_AT_ONCE: Final = 200
KEYS_REMEMBERED: Final = 65_536
Send = asyncio.Future[RecordMetadata]
LOST: Final = (CloseReason.CONNECTION_BROKEN, CloseReason.CONNECTION_TIMEOUT)


@dataclass(frozen=True, slots=True)
class Message:
    """One event for the topic; the publisher adds the header with its position."""

    key: bytes
    value: bytes | None
    headers: Sequence[tuple[str, bytes]]
    position: int


class TransactionalPublisher:
    """One life: start, publish until something fails, close. Then make another.

    There is no way back after an error: aiokafka doesn't reset its sequence
    numbers (KIP-360), so a producer that failed once fails again, and only a new
    one knows whether the last transaction was committed.
    """

    def __init__(self, settings: KafkaSettings, log: LogIdentity) -> None:
        self._settings = settings
        self._log = log
        self._producer: AIOKafkaProducer | None = None
        self._published: Published | None = None
        self._patience: asyncio.Timeout | None = None

    async def start(self, *, remembered: int = 0) -> Published:
        """Shut out every older relay, then tell what is published.

        The order is the guarantee: a position read before the fence may be
        overtaken by the relay that the fence is there to stop. `remembered` is the
        published position as the caller last heard it; see `verify_topic`.
        """
        await self._fence()
        return await self._read_published(remembered)

    async def publish(self, messages: Sequence[Message], *, position: int) -> int:
        """Commit the messages and the position together; answer how many were new.

        Messages come in the log's order. `position` is how far the log was read,
        which is beyond the last message where events aren't published.
        """
        published = self._published
        if published is None:
            raise PublishError("this publisher isn't started, or has failed")
        _require_order(messages, published.position, position)
        self._published = None
        async with self._attempt(f"publish up to position {position}") as producer:
            sent, tails = await self._commit(producer, published, messages, position)
        self._published = Published(position=position, tails=tails)
        return sent

    async def close(self) -> None:
        """End the producer in bounded time, also while the broker doesn't answer."""
        self._published = None
        if self._producer is not None:
            producer, self._producer = self._producer, None
            await end_producer(producer)

    async def _fence(self) -> None:
        if self._producer is not None:
            raise PublishError("this publisher was started before")
        self._producer = AIOKafkaProducer(
            **client_options(self._settings),
            transactional_id=self._settings.transactional_id,
            transaction_timeout_ms=round(TRANSACTION_TIMEOUT_S * 1000),
            compression_type=self._settings.compression,
            max_batch_size=BATCH_BYTES_MAX,
            max_request_size=RECORD_BYTES_MAX,
        )
        self._fail_with_connection(self._producer.client)
        async with self._attempt("start the producer") as producer:
            await producer.start()

    async def _read_published(self, remembered: int) -> Published:
        async with topic_consumer(self._settings) as consumer:
            barrier = await self._raise_barrier()
            contents = await read_ends(consumer, self._settings, at_least=barrier)
        self._published = verify_topic(contents, self._log, remembered=remembered)
        return self._published

    async def _raise_barrier(self) -> Mapping[TopicPartition, int]:
        """Write to every partition, to know how far a reader of the ends must see.

        What was committed may still be hidden behind a transaction that somebody
        left open, or from a leader that doesn't know how far its followers are; a
        position read then is an old one. The records themselves are never seen.
        """
        partitions = relay_partitions(self._settings)
        async with self._attempt("write to every partition") as producer:
            await producer.begin_transaction()
            with _sends() as sends:
                for each in partitions:
                    sends.append(await _send(producer, each, BARRIER_KEY, None))
                written = await _acknowledged(sends)
            await producer.abort_transaction()
        offsets = (record.offset for record in written)
        return dict(zip(partitions, offsets, strict=True))

    async def _commit(
        self,
        producer: AIOKafkaProducer,
        published: Published,
        messages: Sequence[Message],
        position: int,
    ) -> tuple[int, Mapping[int, int]]:
        await producer.begin_transaction()
        with _sends() as sends:
            tails = await self._send_new(producer, published, messages, sends)
            record = PositionRecord.now(self._log, position, tails)
            at = relay_partitions(self._settings)[0]
            sends.append(await _send(producer, at, record.key, record.value))
            await _acknowledged(sends)
        await producer.commit_transaction()
        return len(sends) - 1, tails

    async def _send_new(
        self,
        producer: AIOKafkaProducer,
        published: Published,
        messages: Sequence[Message],
        sends: list[Send],
    ) -> Mapping[int, int]:
        """Send what isn't published, and return each partition's last position."""
        [_, *partitions] = relay_partitions(self._settings)
        tails = dict(published.tails)
        for count, message in enumerate(messages):
            if count % SENDS_AT_ONCE == 0:
                # Sending rarely waits, and other work of this process mustn't.
                await asyncio.sleep(0)
            number = partition_of(message.key, len(partitions))
            # The tail guard: should Kafka ever have committed the events without
            # their position, they aren't sent again.
            if message.position <= tails.get(number, 0):
                continue
            tails[number] = message.position
            at = (POSITION_HEADER, encode_position(message.position))
            headers = [*message.headers, at]
            at_partition = partitions[number]
            sends.append(
                await _send(producer, at_partition, message.key, message.value, headers)
            )
        return tails

    @asynccontextmanager
    async def _attempt(self, what: str) -> AsyncIterator[AIOKafkaProducer]:
        producer = self._producer
        if producer is None:
            raise PublishError("this publisher isn't started")
        with translate_errors(what):
            try:
                async with asyncio.timeout(self._settings.deadline_s) as patience:
                    self._patience = patience
                    yield producer
            except IllegalOperation:
                # The sender died between two calls; the transaction knows of what.
                raise_fatal_error(producer)
                raise
            finally:
                self._patience = None

    def _fail_with_connection(self, client: AIOKafkaClient) -> None:
        # aiokafka would repeat what was under way on a new connection, while the
        # broker may still have the first request before it.
        note_closed: Any = client._on_connection_closed  # noqa: SLF001

        def give_up(connection: object, reason: CloseReason | None) -> None:
            note_closed(connection, reason)
            patience = self._patience
            if reason in LOST and patience is not None and not patience.expired():
                patience.reschedule(asyncio.get_running_loop().time())

        client._on_connection_closed = give_up  # type: ignore[method-assign]  # noqa: SLF001


@lru_cache(maxsize=KEYS_REMEMBERED)
def partition_of(key: bytes, partitions: int) -> int:
    """Kafka's own choice, as every stock producer with murmur2 would make it."""
    return int(murmur2(key) & 0x7FFFFFFF) % partitions


def _require_order(messages: Sequence[Message], published: int, position: int) -> None:
    positions = [published, *(message.position for message in messages)]
    ascending = all(a < b for a, b in pairwise(positions))
    if not ascending or position < positions[-1] or position == published:
        raise ValueError(
            f"messages must lie in order after {published} and up to {position}"
        )


async def _send(
    producer: AIOKafkaProducer,
    partition: TopicPartition,
    key: bytes,
    value: bytes | None,
    headers: Sequence[tuple[str, bytes]] = (),
) -> Send:
    send: Send = await producer.send(
        partition.topic, value, key, partition.partition, headers=headers
    )
    return send


@contextmanager
def _sends() -> Iterator[list[Send]]:
    """Collect what is sent; when one fails, nobody asks for the others any more."""
    sends: list[Send] = []
    try:
        yield sends
    except BaseException:
        for send in sends:
            send.add_done_callback(forget_outcome)
        raise


async def _acknowledged(sends: Sequence[Send]) -> Sequence[RecordMetadata]:
    """Wait for every record: aiokafka commits over one that the broker refused.

    What follows a refused record on its partition is lost as well, and only these
    futures tell. One after the other costs next to nothing where a whole batch is
    acknowledged at once, unlike a callback for each.
    """
    return [await send for send in sends]
