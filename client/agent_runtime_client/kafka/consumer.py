"""Reads the topic: every event once, in order, behind the stored positions."""

# mypy: untyped-calls-exclude="aiokafka"

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import OffsetOutOfRangeError

from agent_runtime_client.kafka.errors import (
    LogEpochChangedError,
    TopicCutError,
    translate_errors,
)
from agent_runtime_client.kafka.event import Event, StoredPosition, event_of
from agent_runtime_client.kafka.topic import (
    Published,
    connected,
    event_partitions,
    position_partition,
    published_of,
)
from agent_runtime_client.kafka.topic_end import Record, last_records, position_of
from agent_runtime_client.kafka.versions import Versions

TOPIC: Final = "agent-runtime.events"
RECORDS_MAX: Final = 500
POLL_MS: Final = 1000
RESTORED: Final = (
    "the log was restored; delete your positions and tables, and start from the"
    " beginning"
)


@asynccontextmanager
async def consume(
    bootstrap: str,
    topic: str = TOPIC,
    positions: Iterable[StoredPosition] = (),
    *,
    deadline_s: float = 6.0,
    **options: Any,
) -> AsyncIterator["EventConsumer"]:
    """Open the topic behind the stored positions; without any, at its beginning.

    Reads every partition and joins no group: store what was processed in the
    transaction of its effect (see ``positions.py``). ``deadline_s`` is for opening;
    ``options`` are those of aiokafka's consumer, such as ``ssl_context``.

    :raises TopicRefusedError: the topic is missing, or isn't the one that the positions
        were stored for
    :raises KafkaUnavailableError: Kafka doesn't answer; once open, it is waited for
        instead
    """
    async with connected(
        bootstrap, topic, deadline_s=deadline_s, options=options
    ) as kafka:
        consumer = EventConsumer(topic, kafka)
        with translate_errors("find the positions on the topic"):
            async with asyncio.timeout(deadline_s):
                await consumer._open({each.partition: each for each in positions})  # noqa: SLF001
        yield consumer


@dataclass(slots=True, eq=False)
class _Waiter:
    position: int
    # By partition, once a transaction has reached the position.
    tails: Mapping[int, int] | None = None
    reached: asyncio.Event = field(default_factory=asyncio.Event)


class EventConsumer:
    """Iterate over it for events; made by ``consume``."""

    def __init__(self, topic: str, kafka: AIOKafkaConsumer) -> None:
        self._kafka = kafka
        self._position_partition = position_partition(topic)
        self._partitions = event_partitions(kafka, topic)
        # By partition: the last position handed out, and the last one that the
        # caller came back from.
        self._seen: dict[int, int] = {}
        self._done: dict[int, int] = {}
        self._published: Published | None = None
        # By partition: the id of the last event seen, until it is met again; and the
        # partitions that are read from before it, so that it has to be met.
        self._unmet: dict[int, str] = {}
        self._read_before: set[int] = set()
        self._versions = Versions(whole=False)
        # What was fetched and not handed out yet, and the event that was handed out
        # and that the caller has not come back from.
        self._unread: deque[Record] = deque()
        self._current: Event | None = None
        self._waiters: set[_Waiter] = set()

    async def __aiter__(self) -> AsyncIterator[Event]:
        """Iterate without an end; asking for the next event says that one is processed.

        An event that the caller didn't come back from comes first when iterating again,
        and what was raised is raised again. One task iterates at a time.

        :raises ForeignTopicError: something other than a relay writes to the topic
        :raises LogEpochChangedError: another event is at the position of the last one
        :raises MissingEventError: an aggregate's versions have a gap
        :raises TopicCutError: the next event isn't there any more
        """
        while True:
            event = self._current = self._current or await self._next()
            yield event
            # Not if it has been handed out again meanwhile, by another iteration.
            if self._current is event:
                self._current = None
                self._done[event.stored.partition] = event.position
                self._wake()

    async def wait_for(self, position: int, timeout_s: float) -> None:
        """Return once everything up to a position has been processed.

        Another task has to iterate meanwhile.

        :raises TimeoutError: that takes longer than the time given
        """
        waiter = _Waiter(position)
        self._waiters.add(waiter)
        try:
            self._wake()
            async with asyncio.timeout(timeout_s):
                await waiter.reached.wait()
        finally:
            self._waiters.discard(waiter)

    async def _open(self, stored: Mapping[int, StoredPosition]) -> None:
        everything = [self._position_partition, *self._partitions]
        starts = await self._kafka.beginning_offsets(everything)
        ends = await self._kafka.end_offsets(everything)
        await self._recognize(stored, starts, ends)
        emptied = await self._emptied(stored, starts, ends)
        # Await nothing before the offsets are set: see last_records().
        self._kafka.assign(everything)
        for each in self._partitions:
            known = stored.get(each.partition)
            offset = known.offset if known else None
            self._kafka.seek(each, starts[each] if offset is None else offset)
            if known is not None:
                self._seen[each.partition] = self._done[each.partition] = known.position
                if known.event_id is not None:
                    self._unmet[each.partition] = known.event_id
                if offset is None and not starts[each]:
                    self._read_before.add(each.partition)
            elif each in emptied and self._published is not None:
                tail = self._published.tails.get(each.partition, 0)
                self._done[each.partition] = tail
        self._kafka.seek(self._position_partition, ends[self._position_partition])
        self._versions = Versions(
            whole=not stored and not any(starts[each] for each in self._partitions)
        )

    async def _emptied(
        self,
        stored: Mapping[int, StoredPosition],
        starts: Mapping[TopicPartition, int],
        ends: Mapping[TopicPartition, int],
    ) -> set[TopicPartition]:
        """Return the partitions whose tail will never be read: retention deleted it.

        Looks after the published position was read, so that what is published now, and
        will be read, isn't taken for deleted.
        """
        empty = [
            each
            for each in self._partitions
            if 0 < starts[each] == ends[each] and each.partition not in stored
        ]
        if not empty:
            return set()
        now = await self._kafka.end_offsets(empty)
        return {each for each in empty if now[each] == starts[each]}

    async def _recognize(
        self,
        stored: Mapping[int, StoredPosition],
        starts: Mapping[TopicPartition, int],
        ends: Mapping[TopicPartition, int],
    ) -> None:
        """Refuse offsets before which this topic holds something else than we saw."""
        spans = {self._position_partition: ends[self._position_partition]}
        for each in self._partitions:
            known = stored.get(each.partition)
            if known is None or known.offset is None:
                continue
            if not starts[each] <= known.offset <= ends[each]:
                raise TopicCutError(
                    f"partition {each.partition} no longer has offset {known.offset}:"
                    " was the topic cut or recreated?"
                )
            spans[each] = known.offset
        found = await last_records(
            self._kafka, {each: (starts[each], end) for each, end in spans.items()}
        )
        if last := found.pop(self._position_partition, None):
            self._published = published_of(last)
        for each, record in found.items():
            seen = stored[each.partition].position
            if position_of(record) != seen:
                raise TopicCutError(
                    f"partition {each.partition} has position {position_of(record)}"
                    f" where {seen} was seen: was the topic cut or recreated?"
                )
            _require_same_event(record, stored[each.partition].event_id)

    async def _next(self) -> Event:
        while True:
            while self._unread:
                event = self._take(self._unread[0])
                # Only now: a record that is refused will be refused again.
                self._unread.popleft()
                if event is not None:
                    return event
            fetched = await self._fetch()
            for partition, records in fetched.items():
                if partition != self._position_partition:
                    self._unread.extend(records)
            if positions := fetched.get(self._position_partition):
                self._learn(positions[-1])

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
        position, partition = position_of(record), record.partition
        seen = self._seen.get(partition, 0)
        if position < seen:
            self._read_before.add(partition)
            return None
        if position == seen:
            _require_same_event(record, self._unmet.get(partition))
        elif partition in self._unmet and partition in self._read_before:
            raise LogEpochChangedError(
                f"partition {partition} no longer has the event at position {seen} that"
                f" was processed: {RESTORED}"
            )
        self._unmet.pop(partition, None)
        if position == seen:
            return None
        event = event_of(record)
        self._versions.follow(event)
        self._seen[partition] = position
        return event

    def _learn(self, record: Record) -> None:
        self._published = published_of(record)
        self._wake()

    def _wake(self) -> None:
        for waiter in self._waiters:
            published = self._published
            if waiter.tails is None and published is not None:
                if published.position < waiter.position:
                    continue
                # Those of the first transaction that reached it: later ones would keep
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
            f" {position_of(record)} than the one that was processed: {RESTORED}"
        )
