"""The log in pieces of the size of one transaction."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from psycopg import AsyncConnection

from projections.relay.kafka.publisher import Message
from projections.relay.messages import Messages, NotPublicError, message_bytes
from service.event_log import reader
from service.event_log.mapper import EventMapper, RecordedEvent, UnreadableEventError

EVENTS_MAX: Final = 2_000
BYTES_MAX: Final = 900_000
# Read in steps, so that what else runs in this process isn't held up for long.
STEP_EVENTS_MAX: Final = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Messages in order, and when the first was recorded, in seconds since 1970."""

    messages: Sequence[Message]
    recorded_at: float

    @property
    def position(self) -> int:
        return self.messages[-1].position


class Batches:
    """Reads the log and makes its messages, never past one that can't be made."""

    def __init__(
        self, db: AsyncConnection[Any], mapper: EventMapper, messages: Messages
    ) -> None:
        self._db = db
        self._mapper = mapper
        self._messages = messages
        # Read for the last batch, but beyond its bound.
        self._left: list[tuple[Message, float]] = []

    async def next(self, *, after: int, upto: int) -> Batch | None:
        """Return what follows a position; None where nothing does.

        :raises NotPublicError: nobody has decided what of the next event is public
        :raises UnreadableEventError: the next event can't be decoded
        """
        found: list[Message] = []
        size, recorded_at = 0, 0.0
        while after < upto and len(found) < EVENTS_MAX:
            try:
                step = await self._step(after, min(upto, after + STEP_EVENTS_MAX))
            except (NotPublicError, UnreadableEventError):
                if not found:
                    raise
                break
            for number, (message, at) in enumerate(step):
                size += message_bytes(message)
                if found and size > BYTES_MAX:
                    self._left = step[number:]
                    return Batch(messages=found, recorded_at=recorded_at)
                recorded_at = recorded_at or at
                found.append(message)
            after = found[-1].position
            await asyncio.sleep(0)
        return Batch(messages=found, recorded_at=recorded_at) if found else None

    async def _step(self, after: int, upto: int) -> list[tuple[Message, float]]:
        left, self._left = self._left, []
        if left and left[0][0].position == after + 1:
            return left
        found: list[tuple[Message, float]] = []
        for recorded in await self._read(after, upto):
            try:
                at = recorded.recorded_at.timestamp()
                found.append((self._messages.of(recorded), at))
            except NotPublicError:
                if not found:
                    raise
                break
        return found

    async def _read(self, after: int, upto: int) -> list[RecordedEvent]:
        try:
            return await self._events(after, upto)
        except UnreadableEventError as error:
            if error.position == after + 1:
                raise
            return await self._events(after, error.position - 1)

    async def _events(self, after: int, upto: int) -> list[RecordedEvent]:
        return await reader.events(
            self._db, self._mapper, after=after, upto=upto, limit=STEP_EVENTS_MAX
        )
