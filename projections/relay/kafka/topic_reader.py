"""Reading what a topic holds: the last committed record of each partition."""

# mypy: untyped-calls-exclude="aiokafka"

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Final, Literal

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from projections.relay.kafka.ending import end_consumer
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
# Most transactions end with a record and a marker; aborted ones can be long.
FIRST_LOOK_BACK: Final = 4
LOOK_BACK_FACTOR: Final = 16

NOTHING: Final[Mapping[TopicPartition, int]] = MappingProxyType({})

Span = tuple[int, int]
Record = ConsumerRecord[bytes, bytes]


async def read_contents(settings: KafkaSettings) -> TopicContents:
    """Read the topic's ends as any consumer sees them, perhaps a little too early."""
    async with topic_consumer(settings) as consumer:
        return await read_ends(consumer, settings)


@asynccontextmanager
async def topic_consumer(
    settings: KafkaSettings, *, reset: Literal["latest", "none"] = "latest"
) -> AsyncIterator[AIOKafkaConsumer]:
    """Connect, and refuse topics that are missing or of another shape.

    `reset`: whether an offset that isn't there any more is passed over or an error.
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
                await _require_topics(consumer, settings)
        yield consumer
    finally:
        await end_consumer(consumer)


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
            consumer.assign(everything)
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


async def _require_topics(consumer: AIOKafkaConsumer, settings: KafkaSettings) -> None:
    # Asking for all topics: asking for one by name creates it where a cluster
    # allows that, with settings that aren't ours.
    cluster = await consumer._client.fetch_all_metadata()  # noqa: SLF001
    expected = {settings.topic: settings.partitions, settings.position_topic: 1}
    for topic, count in expected.items():
        partitions = cluster.partitions_for_topic(topic)
        if not partitions:
            raise TopicMissingError(f"there is no topic {topic}")
        if len(partitions) != count:
            raise TopicSettingsError(
                f"topic {topic} has {len(partitions)} partitions instead of {count}"
            )


def position_of(record: Record) -> int:
    for name, value in record.headers:
        if name == POSITION_HEADER and value.isdigit():
            return int(value)
    raise ForeignTopicError(
        f"{record.topic} {record.partition} holds a record without a position,"
        f" at offset {record.offset}: something other than a relay writes to it"
    )


async def last_records(
    consumer: AIOKafkaConsumer, spans: Mapping[TopicPartition, Span]
) -> dict[TopicPartition, Record]:
    """Look back ever further: markers and aborted records fill offsets unseen."""
    found: dict[TopicPartition, Record] = {}
    look_back = FIRST_LOOK_BACK
    open_spans = {each: span for each, span in spans.items() if span[0] < span[1]}
    while open_spans:
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
    consumer: AIOKafkaConsumer, spans: Mapping[TopicPartition, Span]
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
        # The position also moves over what isn't handed out.
        unread = {p for p in unread if await consumer.position(p) < spans[p][1]}
    return last
