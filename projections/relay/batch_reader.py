"""Reads the log in batches, each the size of one Kafka transaction."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from projections.relay.kafka.errors import LogIncompleteError
from projections.relay.kafka.publisher import KafkaMessage
from projections.relay.kafka.topic_state import ID_HEADER
from projections.relay.messages import (
    TRACEPARENT_HEADER,
    MessageBuilder,
    NotPublicError,
    message_bytes,
)
from service.database import Db
from service.event_log import reader
from service.event_log.mapper import EventMapper, RecordedEvent, UnreadableEventError

EVENTS_MAX: Final = 2_000
BYTES_MAX: Final = 900_000
# Read in steps, so that other work of this process isn't delayed.
STEP_EVENTS_MAX: Final = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageBatch:
    """Messages in order, and when the first was recorded, in Unix seconds."""

    messages: Sequence[KafkaMessage]
    recorded_at: float

    @property
    def position(self) -> int:
        return self.messages[-1].position

    @property
    def event_id(self) -> str:
        """Return the id of the last message."""
        return dict(self.messages[-1].headers)[ID_HEADER].decode()

    @property
    def traceparents(self) -> Iterator[str]:
        """Yield the trace contexts that the events were recorded in."""
        for message in self.messages:
            for name, value in message.headers:
                if name == TRACEPARENT_HEADER:
                    yield value.decode()


class BatchReader:
    """Reads events and builds their messages, up to the first that can't be built."""

    def __init__(self, db: Db, mapper: EventMapper, builder: MessageBuilder) -> None:
        self._db = db
        self._mapper = mapper
        self._builder = builder
        # Read for the previous batch, but beyond its size.
        self._left: list[tuple[KafkaMessage, float]] = []

    async def next(self, *, after: int, upto: int) -> MessageBatch | None:
        """Return the events that follow a position; None if there are none.

        :raises NotPublicError: the next event isn't on the allow-list
        :raises UnreadableEventError: the next event can't be decoded
        :raises LogIncompleteError: the next event isn't there
        """
        found: list[KafkaMessage] = []
        size, recorded_at = 0, 0.0
        while after < upto and len(found) < EVENTS_MAX:
            try:
                step = await self._step(after, min(upto, after + STEP_EVENTS_MAX))
            except (NotPublicError, UnreadableEventError, LogIncompleteError):
                if not found:
                    raise
                break
            for number, (message, at) in enumerate(step):
                size += message_bytes(message)
                if found and size > BYTES_MAX:
                    self._left = step[number:]
                    return MessageBatch(messages=found, recorded_at=recorded_at)
                recorded_at = recorded_at or at
                found.append(message)
            after = found[-1].position
            await asyncio.sleep(0)
        return MessageBatch(messages=found, recorded_at=recorded_at) if found else None

    async def _step(self, after: int, upto: int) -> list[tuple[KafkaMessage, float]]:
        left, self._left = self._left, []
        if left and left[0][0].position == after + 1:
            return left
        found: list[tuple[KafkaMessage, float]] = []
        for recorded in await self._read(after, upto):
            if recorded.position != after + len(found) + 1:
                break
            try:
                at = recorded.recorded_at.timestamp()
                found.append((self._builder.build(recorded), at))
            except NotPublicError:
                if not found:
                    raise
                break
        if not found:
            raise LogIncompleteError(after + 1)
        return found

    async def _read(self, after: int, upto: int) -> list[RecordedEvent]:
        try:
            return await self._events(after, upto)
        except UnreadableEventError as error:
            if error.position == after + 1:
                raise
            return await self._events(after, error.position - 1)

    async def _events(self, after: int, upto: int) -> list[RecordedEvent]:
        upto = await reader.last_of_chunk(
            self._db, after=after, upto=upto, bytes_max=BYTES_MAX
        )
        return await reader.events(
            self._db, self._mapper, after=after, upto=upto, limit=STEP_EVENTS_MAX
        )
