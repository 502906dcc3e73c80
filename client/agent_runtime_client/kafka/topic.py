"""Reads the topic of events and the one with the relay's position."""

# mypy: untyped-calls-exclude="aiokafka"

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from agent_runtime_client.kafka.errors import (
    ForeignTopicError,
    TopicMissingError,
    translate_errors,
)

POSITION_TOPIC_SUFFIX: Final = ".relay-position"
POSITION_HEADER: Final = "ce_sequence"
FETCH_WAIT_MS: Final = 50
STOP_TIMEOUT_S: Final = 0.5
# Usually a transaction ends with a record and a marker; aborted ones can be long.
FIRST_LOOK_BACK: Final = 4
LOOK_BACK_FACTOR: Final = 16

Span = tuple[int, int]
Record = ConsumerRecord[bytes, bytes]


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
    kafka: AIOKafkaConsumer, spans: Mapping[TopicPartition, Span]
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
        kafka.assign(list(open_spans))
        for each, (start, end) in open_spans.items():
            kafka.seek(each, max(start, end - look_back))
        found |= await _read_to_end(kafka, open_spans)
        open_spans = {
            each: (start, end)
            for each, (start, end) in open_spans.items()
            if each not in found and end - look_back > start
        }
        look_back *= LOOK_BACK_FACTOR
    return found


async def _read_to_end(
    kafka: AIOKafkaConsumer, spans: Mapping[TopicPartition, Span]
) -> dict[TopicPartition, Record]:
    last: dict[TopicPartition, Record] = {}
    unread = set(spans)
    while unread:
        fetched = await kafka.getmany(*unread, timeout_ms=FETCH_WAIT_MS)
        for each, records in fetched.items():
            # A fetch doesn't stop at the span's end.
            within = [record for record in records if record.offset < spans[each][1]]
            if within:
                last[each] = within[-1]
        # The position also advances over records that aren't returned.
        unread = {
            each for each in unread if await kafka.position(each) < spans[each][1]
        }
    return last


async def _stop_in_time(kafka: AIOKafkaConsumer) -> None:
    """Stop a consumer; without a broker that may not end by itself."""
    stopping = asyncio.ensure_future(kafka.stop())
    stopping.add_done_callback(lambda it: it.cancelled() or it.exception())
    try:
        await asyncio.wait([stopping], timeout=STOP_TIMEOUT_S)
    finally:
        stopping.cancel()
