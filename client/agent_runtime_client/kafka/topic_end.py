"""Finds the last committed record of each partition; the service's relay does, too."""

# mypy: untyped-calls-exclude="aiokafka"

from collections.abc import Mapping
from typing import Final

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from agent_runtime_client.kafka.errors import ForeignTopicError

# CloudEvents compares the extension "sequence" as text, so it is padded.
POSITION_HEADER: Final = "ce_sequence"
FETCH_WAIT_MS: Final = 50
# Usually a transaction ends with a record and a marker; aborted ones can be long.
FIRST_LOOK_BACK: Final = 4
LOOK_BACK_FACTOR: Final = 16

Span = tuple[int, int]
Record = ConsumerRecord[bytes, bytes]


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
