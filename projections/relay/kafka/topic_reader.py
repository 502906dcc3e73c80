"""Reads the last committed record of each partition."""

# mypy: untyped-calls-exclude="aiokafka"

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Final, Literal

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from projections.relay.kafka.clients import stop_in_time
from projections.relay.kafka.errors import (
    ForeignTopicError,
    TopicMissingError,
    TopicSettingsError,
    translate_errors,
)
from projections.relay.kafka.settings import KafkaSettings, client_options
from projections.relay.kafka.topic_state import (
    POSITION_HEADER,
    PartitionEnds,
    PositionRecord,
    TopicContents,
)

FETCH_WAIT_MS: Final = 50
# Usually a transaction ends with a record and a marker; aborted ones can be long.
FIRST_LOOK_BACK: Final = 4
LOOK_BACK_FACTOR: Final = 16

NOTHING: Final[Mapping[TopicPartition, int]] = MappingProxyType({})

OffsetRange = tuple[int, int]
Record = ConsumerRecord[bytes, bytes]


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


def position_of(record: Record) -> int:
    """Return the log position in a record's headers.

    :raises ForeignTopicError: there is none
    """
    for name, value in record.headers:
        if name == POSITION_HEADER and value.isdigit():
            return int(value)
    raise ForeignTopicError(
        f"{record.topic} {record.partition} holds a record without a position,"
        f" at offset {record.offset}: another program than a relay writes to it"
    )


async def last_records(
    consumer: AIOKafkaConsumer, spans: Mapping[TopicPartition, OffsetRange]
) -> dict[TopicPartition, Record]:
    """Return the last visible record of each span.

    Looks back further and further: markers and aborted records occupy offsets too.
    """
    found: dict[TopicPartition, Record] = {}
    look_back = FIRST_LOOK_BACK
    open_spans = {each: span for each, span in spans.items() if span[0] < span[1]}
    while open_spans:
        # Await nothing before the offsets are set: aiokafka looks for a missing one in
        # the background, and the next fetch raises that it found none.
        consumer.assign(list(open_spans))
        for each, (start, end) in open_spans.items():
            consumer.seek(each, max(start, end - look_back))
        found |= await _read_to_end(consumer, open_spans)
        open_spans = {
            each: (start, end)
            for each, (start, end) in open_spans.items()
            if each not in found and end - look_back > start
        }
        look_back *= LOOK_BACK_FACTOR
    return found


async def _read_to_end(
    consumer: AIOKafkaConsumer, spans: Mapping[TopicPartition, OffsetRange]
) -> dict[TopicPartition, Record]:
    last: dict[TopicPartition, Record] = {}
    unread = set(spans)
    while unread:
        fetched = await consumer.getmany(*unread, timeout_ms=FETCH_WAIT_MS)
        for each, records in fetched.items():
            # A fetch doesn't stop at the span's end.
            within = [record for record in records if record.offset < spans[each][1]]
            if within:
                last[each] = within[-1]
        # The position also advances over records that aren't returned.
        unread = {p for p in unread if await consumer.position(p) < spans[p][1]}
    return last
