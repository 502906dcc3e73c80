"""Reads the topic of events and the one with the relay's position."""

# mypy: untyped-calls-exclude="aiokafka"

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

from aiokafka import AIOKafkaConsumer, TopicPartition

from agent_runtime_client.kafka.errors import (
    ForeignTopicError,
    TopicMissingError,
    translate_errors,
)
from agent_runtime_client.kafka.topic_end import FETCH_WAIT_MS, Record

POSITION_TOPIC_SUFFIX: Final = ".relay-position"
STOP_TIMEOUT_S: Final = 0.5


class Published(NamedTuple):
    """Up to where the relay has published, and the last position by partition."""

    position: int
    tails: Mapping[int, int]


@asynccontextmanager
async def connected(
    bootstrap: str, topic: str, *, deadline_s: float, options: Mapping[str, Any]
) -> AsyncIterator[AIOKafkaConsumer]:
    """Connect a consumer that sees committed records only, and joins no group.

    :raises TopicMissingError: a topic is missing
    :raises KafkaUnavailableError: the broker doesn't answer, or not in time
    """
    kafka = AIOKafkaConsumer(
        **options,
        bootstrap_servers=bootstrap,
        isolation_level="read_committed",
        enable_auto_commit=False,
        fetch_max_wait_ms=FETCH_WAIT_MS,
        # Reading from an offset that no longer exists is an error.
        auto_offset_reset="none",
    )
    try:
        with translate_errors("look at the topic"):
            async with asyncio.timeout(deadline_s):
                await kafka.start()
                # Lists all: asking for one by name may create it.
                existing = await kafka.topics()
                for each in (topic, topic + POSITION_TOPIC_SUFFIX):
                    if each not in existing:
                        raise TopicMissingError(f"there is no topic {each}")
                    # Makes the consumer load its metadata.
                    await kafka.beginning_offsets([TopicPartition(each, 0)])
        yield kafka
    finally:
        await _stop_in_time(kafka)


def event_partitions(kafka: AIOKafkaConsumer, topic: str) -> list[TopicPartition]:
    """Return the partitions of the topic of events."""
    numbers: set[int] = kafka.partitions_for_topic(topic) or set()
    return [TopicPartition(topic, number) for number in sorted(numbers)]


def position_partition(topic: str) -> TopicPartition:
    """Return the partition that the relay's position is on."""
    return TopicPartition(topic + POSITION_TOPIC_SUFFIX, 0)


def published_of(record: Record) -> Published:
    """Read a record of the relay's position.

    :raises ForeignTopicError: it isn't one
    """
    try:
        fields = json.loads(record.value or b"")
        tails = {int(number): tail for number, tail in fields["tails"].items()}
        return Published(fields["position"], tails)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ForeignTopicError(
            f"{record.topic} holds a record that no relay wrote, at {record.offset}"
        ) from error


async def _stop_in_time(kafka: AIOKafkaConsumer) -> None:
    """Stop a consumer; without a broker that may not end by itself."""
    stopping = asyncio.ensure_future(kafka.stop())
    stopping.add_done_callback(lambda it: it.cancelled() or it.exception())
    try:
        await asyncio.wait([stopping], timeout=STOP_TIMEOUT_S)
    finally:
        stopping.cancel()
