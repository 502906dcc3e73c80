"""Reading the topic: every event once, in order, from where the caller left off."""

# mypy: untyped-calls-exclude="aiokafka"

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import OffsetOutOfRangeError

from projections.relay.consumer.event import Event, Place, event_of
from projections.relay.consumer.versions import Versions
from projections.relay.kafka.errors import (
    LogEpochChangedError,
    TopicCutError,
    translate_errors,
)
from projections.relay.kafka.settings import KafkaSettings
from projections.relay.kafka.topic_reader import (
    last_records,
    position_of,
    relay_partitions,
    topic_consumer,
)
from projections.relay.kafka.topic_state import PositionRecord

RECORDS_MAX: Final = 500
POLL_MS: Final = 1000

Record = ConsumerRecord[bytes, bytes]


@asynccontextmanager
async def consume(
    settings: KafkaSettings, places: Iterable[Place] = ()
) -> AsyncIterator["EventConsumer"]:
    """Open the topic where the caller left off; without places, at its beginning.

    Reads every partition and joins no group: what was consumed is for the caller to
    keep, in the transaction of its effect (see ``places.py``).

    :raises TopicRefusedError: the topic is missing, or isn't the one that the places
        were kept of
    :raises PublishError: Kafka doesn't answer; once open, it is waited for instead
    """
    async with topic_consumer(settings, reset="none") as kafka:
        consumer = EventConsumer(settings, kafka)
        with translate_errors("find the place on the topic"):
            async with asyncio.timeout(settings.deadline_s):
                await consumer._open({each.partition: each for each in places})  # noqa: SLF001
        yield consumer


@dataclass(slots=True, eq=False)
class _Waiter:
    position: int
    # By partition, once a transaction has reached the position.
    tails: Mapping[int, int] | None = None
    reached: asyncio.Event = field(default_factory=asyncio.Event)


class EventConsumer:
    """Iterate over it for events; made by ``consume``."""

    def __init__(self, settings: KafkaSettings, kafka: AIOKafkaConsumer) -> None:
        self._kafka = kafka
        [self._position_partition, *self._partitions] = relay_partitions(settings)
        # By partition: the last position handed out, and the last one that the
        # caller came back from.
        self._seen: dict[int, int] = {}
        self._done: dict[int, int] = {}
        self._published: PositionRecord | None = None
        # By partition: the id of the last event seen, until it is met again.
        self._last_ids: dict[int, str] = {}
        self._versions = Versions(whole=False)
        self._waiters: set[_Waiter] = set()

    async def __aiter__(self) -> AsyncIterator[Event]:
        """Hand out events for ever; asking for the next says that one is dealt with.

        :raises ForeignTopicError: something other than a relay writes to the topic
        :raises LogEpochChangedError: another event is where the last one was seen
        :raises MissingEventError: an aggregate's versions have a gap
        :raises TopicCutError: the next event isn't there any more
        """
        while True:
            for partition, records in (await self._fetch()).items():
                if partition == self._position_partition:
                    self._hear(records[-1])
                    continue
                for record in records:
                    event = self._take(record)
                    if event is not None:
                        yield event
                        self._done[event.place.partition] = event.position
                        self._tell()

    async def wait_for(self, position: int, timeout_s: float) -> None:
        """Return once everything up to a position has been dealt with.

        Another task has to iterate meanwhile.

        :raises TimeoutError: that takes longer than the time given
        """
        waiter = _Waiter(position)
        self._waiters.add(waiter)
        try:
            self._tell()
            async with asyncio.timeout(timeout_s):
                await waiter.reached.wait()
        finally:
            self._waiters.discard(waiter)

    async def _open(self, places: Mapping[int, Place]) -> None:
        everything = [self._position_partition, *self._partitions]
        self._kafka.assign(everything)
        starts = await self._kafka.beginning_offsets(everything)
        ends = await self._kafka.end_offsets(everything)
        await self._recognise(places, starts, ends)
        self._kafka.assign(everything)
        for each in self._partitions:
            place = places.get(each.partition)
            known = place.offset if place else None
            self._kafka.seek(each, starts[each] if known is None else known)
            if place is not None:
                self._seen[each.partition] = self._done[each.partition] = place.position
                if place.event_id is not None:
                    self._last_ids[each.partition] = place.event_id
        self._kafka.seek(self._position_partition, ends[self._position_partition])
        self._versions = Versions(
            whole=not places and not any(starts[each] for each in self._partitions)
        )

    async def _recognise(
        self,
        places: Mapping[int, Place],
        starts: Mapping[TopicPartition, int],
        ends: Mapping[TopicPartition, int],
    ) -> None:
        """Refuse offsets before which this topic holds something else than we saw."""
        spans = {self._position_partition: ends[self._position_partition]}
        for each in self._partitions:
            place = places.get(each.partition)
            if place is None or place.offset is None:
                continue
            if not starts[each] <= place.offset <= ends[each]:
                raise TopicCutError(
                    f"partition {each.partition} no longer has offset {place.offset}:"
                    " was the topic cut or recreated?"
                )
            spans[each] = place.offset
        found = await last_records(
            self._kafka, {each: (starts[each], end) for each, end in spans.items()}
        )
        if last := found.pop(self._position_partition, None):
            self._published = PositionRecord.parse(last.key, last.value)
        for each, record in found.items():
            seen = places[each.partition].position
            if position_of(record) != seen:
                raise TopicCutError(
                    f"partition {each.partition} has position {position_of(record)}"
                    f" where {seen} was seen: was the topic cut or recreated?"
                )
            _require_same_event(record, places[each.partition].event_id)

    async def _fetch(self) -> Mapping[TopicPartition, list[Record]]:
        with translate_errors("read the topic"):
            try:
                return await self._kafka.getmany(
                    timeout_ms=POLL_MS, max_records=RECORDS_MAX
                )
            except OffsetOutOfRangeError as error:
                raise TopicCutError(
                    "the topic has lost what was to be read next: was it cut?"
                ) from error

    def _take(self, record: Record) -> Event | None:
        position = position_of(record)
        seen = self._seen.get(record.partition, 0)
        if position == seen:
            _require_same_event(record, self._last_ids.get(record.partition))
        if position <= seen:
            return None
        event = event_of(record)
        self._versions.follow(event)
        self._seen[record.partition] = position
        return event

    def _hear(self, record: Record) -> None:
        self._published = PositionRecord.parse(record.key, record.value)
        self._tell()

    def _tell(self) -> None:
        for waiter in self._waiters:
            published = self._published
            if waiter.tails is None and published is not None:
                if published.position < waiter.position:
                    continue
                # Of the first transaction that reached it: later ones would keep
                # moving away.
                waiter.tails = published.tails
            if waiter.tails is not None and all(
                self._done.get(partition, 0) >= tail
                for partition, tail in waiter.tails.items()
            ):
                waiter.reached.set()


def _require_same_event(record: Record, event_id: str | None) -> None:
    """Refuse a record at the last position seen that isn't the event seen there."""
    if event_id not in (None, event_of(record).id):
        raise LogEpochChangedError(
            f"partition {record.partition} has another event at position"
            f" {position_of(record)} than the one that was processed: the log was"
            " restored; delete your positions and tables, and start from the beginning"
        )
