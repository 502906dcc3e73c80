"""Reads the last committed record of each partition."""

# mypy: untyped-calls-exclude="aiokafka"

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Final, Literal

from aiokafka import AIOKafkaConsumer, TopicPartition

from agent_runtime_client.kafka.errors import TopicMissingError
from agent_runtime_client.kafka.topic_end import (
    FETCH_WAIT_MS,
    last_records,
    position_of,
)
from projections.relay.kafka.clients import stop_in_time
from projections.relay.kafka.errors import TopicSettingsError, translate_errors
from projections.relay.kafka.settings import KafkaSettings, client_options
from projections.relay.kafka.topic_state import (
    PartitionEnds,
    PositionRecord,
    TopicContents,
)

NOTHING: Final[Mapping[TopicPartition, int]] = MappingProxyType({})


async def read_contents(settings: KafkaSettings) -> TopicContents:
    """Read the ends as consumers see them now; they may be slightly outdated."""
    async with topic_consumer(settings) as consumer:
        return await read_ends(consumer, settings)


@asynccontextmanager
async def topic_consumer(
    settings: KafkaSettings,
    partition_counts: Mapping[str, int] | None = None,
    *,
    reset: Literal["latest", "none"] = "latest",
) -> AsyncIterator[AIOKafkaConsumer]:
    """Connect a consumer that sees committed records only.

    `partition_counts`: the topics, by default those of events and positions. `reset`:
    with "none", reading from an offset that no longer exists is an error.

    :raises TopicRefusedError: a topic is missing or has another number of partitions
    :raises PublishError: the broker doesn't answer, or not in time
    """
    consumer = AIOKafkaConsumer(
        **client_options(settings),
        isolation_level="read_committed",
        enable_auto_commit=False,
        fetch_max_wait_ms=FETCH_WAIT_MS,
        auto_offset_reset=reset,
    )
    try:
        with translate_errors("look at the topic"):
            async with asyncio.timeout(settings.deadline_s):
                await consumer.start()
                await _require_topics(
                    consumer,
                    partition_counts
                    or {
                        settings.topic: settings.partitions,
                        settings.position_topic: 1,
                    },
                )
        yield consumer
    finally:
        await stop_in_time(consumer.stop())


async def read_ends(
    consumer: AIOKafkaConsumer,
    settings: KafkaSettings,
    *,
    at_least: Mapping[TopicPartition, int] = NOTHING,
) -> TopicContents:
    """Read each partition's last record, once its end reaches the offset asked for."""
    everything = relay_partitions(settings)
    with translate_errors("read the topic"):
        async with asyncio.timeout(settings.deadline_s):
            starts = await consumer.beginning_offsets(everything)
            ends = await consumer.end_offsets(everything)
            while any(ends[each] < offset for each, offset in at_least.items()):
                await asyncio.sleep(FETCH_WAIT_MS / 1000)
                ends = await consumer.end_offsets(everything)
            spans = {each: (starts[each], ends[each]) for each in everything}
            last = await last_records(consumer, spans)
    [position, *events] = everything
    return TopicContents(
        record=(
            PositionRecord.parse(last[position].key, last[position].value)
            if position in last
            else None
        ),
        partitions=[
            PartitionEnds(
                partition=each.partition,
                start=starts[each],
                end=ends[each],
                tail=position_of(last[each]) if each in last else None,
            )
            for each in events
        ],
    )


def relay_partitions(settings: KafkaSettings) -> list[TopicPartition]:
    """Every partition the relay writes to; the position topic's comes first."""
    return [
        TopicPartition(settings.position_topic, 0),
        *(TopicPartition(settings.topic, n) for n in range(settings.partitions)),
    ]


async def _require_topics(
    consumer: AIOKafkaConsumer, partition_counts: Mapping[str, int]
) -> None:
    # Lists all topics: asking for one by name may create it, with other settings.
    existing = await consumer.topics()
    for topic in partition_counts:
        if topic not in existing:
            raise TopicMissingError(
                f"there is no topic {topic}: create it by agent-runtime topic create"
            )
    # Makes the consumer load the topics' metadata.
    await consumer.beginning_offsets(
        [TopicPartition(each, 0) for each in partition_counts]
    )
    for topic, count in partition_counts.items():
        partitions = consumer.partitions_for_topic(topic) or ()
        if len(partitions) != count:
            raise TopicSettingsError(
                f"topic {topic} has {len(partitions)} partitions instead of {count}"
            )
