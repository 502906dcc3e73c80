"""Reading a topic as a stranger would: librdkafka, told nothing but its name."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import orjson
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

# Far beyond what a busy machine needs.
TIMEOUT_S = 60.0
# A topic is listed a little before its leader knows that it leads, and a broker that
# has just come back may not know its partitions yet.
NOT_YET = (KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError._UNKNOWN_PARTITION)  # noqa: SLF001 # public in spite of its name


@dataclass(frozen=True, slots=True)
class Record:
    partition: int
    key: bytes
    value: bytes | None
    headers: dict[str, bytes]

    @property
    def position(self) -> int:
        return int(self.headers["ce_sequence"])


def read_all(bootstrap: str, topic: str) -> list[Record]:
    """Read every partition to its end, once no transaction is open on it."""
    with _consumer(bootstrap, "read_committed") as consumer:
        described = consumer.list_topics(topic, TIMEOUT_S).topics[topic]
        partitions = [
            TopicPartition(topic, each, OFFSET_BEGINNING)
            for each in described.partitions
        ]
        wait_until_settled(bootstrap, partitions)
        consumer.assign(partitions)
        return _read_to_ends(consumer, len(partitions))


def positions(bootstrap: str, topic: str) -> list[int]:
    """Every published position as often as it is there, in ascending order."""
    return sorted(record.position for record in read_all(bootstrap, topic))


def published_position(bootstrap: str, position_topic: str) -> int:
    records = read_all(bootstrap, position_topic)
    return int(orjson.loads(records[-1].value or b"")["position"]) if records else 0


def wait_until_settled(bootstrap: str, partitions: Sequence[TopicPartition]) -> None:
    """Wait for the markers: a commit is answered before they are on the partitions."""
    deadline = time.monotonic() + TIMEOUT_S
    with (
        _consumer(bootstrap, "read_committed") as stable,
        _consumer(bootstrap, "read_uncommitted") as any_state,
    ):
        while not _settled(stable, any_state, partitions):
            assert time.monotonic() < deadline, "a transaction stays open"


@contextmanager
def _consumer(bootstrap: str, isolation: str) -> Iterator[Consumer]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "unused",
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 20,
        }
    )
    try:
        yield consumer
    finally:
        consumer.close()


def _settled(
    stable: Consumer, any_state: Consumer, partitions: Sequence[TopicPartition]
) -> bool:
    try:
        return _ends(stable, partitions) == _ends(any_state, partitions)
    except KafkaException as failure:
        if failure.args[0].code() not in NOT_YET:
            raise
        return False


def _ends(
    consumer: Consumer, partitions: Sequence[TopicPartition]
) -> list[tuple[int, int] | None]:
    return [consumer.get_watermark_offsets(each, TIMEOUT_S) for each in partitions]


def _read_to_ends(consumer: Consumer, partitions: int) -> list[Record]:
    records: list[Record] = []
    while partitions:
        message = consumer.poll(TIMEOUT_S)
        assert message is not None, "the broker doesn't answer"
        error = message.error()
        if error is None:
            records.append(
                Record(
                    partition=message.partition() or 0,
                    key=bytes(message.key() or b""),
                    value=message.value(),
                    headers=_headers(message),
                )
            )
        elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 # public in spite of its name
            partitions -= 1
        else:
            raise AssertionError(error)
    return records


def _headers(message: Message) -> dict[str, bytes]:
    headers: Any = message.headers()  # typed as far too much
    return dict(headers or [])
