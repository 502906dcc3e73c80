"""Record what nobody waits for: ends of calls, refusals, and batched calls."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Final, Generic, Protocol, TypeVar
from uuid import UUID, uuid4

import psycopg
from prometheus_client import Counter

from service.aggregate import LoggedAggregate
from service.call_recording.refusals import (
    DueRefusals,
    FoldedRefusals,
    RefusedCalls,
)
from service.errors import RETRY_LATER, ServiceError, UnavailableError
from service.event_log.execute import execute
from service.event_log.protocol import CommandLog
from service.event_log.unit_of_work import UnitOfWork
from service.tasks import background_task

INTERVAL_S: Final = 0.1
WAITING_MAX: Final = 10_000
# Events of one command: well below what one batch of the log holds.
EVENTS_MAX: Final = 200
# Admissions and ends of one batch: after an outage there are many.
BATCH_MAX: Final = 500
SYSTEM: Final = {"actor": "system"}

logger = logging.getLogger(__name__)

# A call that was admitted in a batch, one that has ended, and refused ones.
A = TypeVar("A")
E = TypeVar("E")
R = TypeVar("R", bound=RefusedCalls)
T = TypeVar("T")
Saved = Awaitable[None]
R_contra = TypeVar("R_contra", bound=RefusedCalls, contravariant=True)


@dataclass(slots=True, kw_only=True)
class AgentBatch(Generic[A, E]):
    """The batched calls of one agent since the last event about them.

    ``token_ids`` are those of the admitted calls.
    """

    agent_id: UUID
    admitted: list[A] = field(default_factory=list)
    finished: list[E] = field(default_factory=list)
    token_ids: list[str] = field(default_factory=list)
    id: UUID = field(default_factory=uuid4)
    is_doubtful: bool = False

    @property
    def size(self) -> int:
        return len(self.admitted) + len(self.finished)


class CallEvents(Protocol[A, E, R_contra]):
    """The events of one kind of calls; ``name`` is its plural, for people."""

    @property
    def name(self) -> str: ...

    @property
    def unrecorded(self) -> Counter:
        """Count what couldn't be recorded."""

    async def end(self, calls: Sequence[E], work: UnitOfWork) -> None:
        """Record the ends of calls that were admitted by events of their own.

        What is on record already, since the outcome of an earlier attempt was unknown,
        is left as it is.
        """

    async def batch(self, batch: AgentBatch[A, E], work: UnitOfWork) -> LoggedAggregate:
        """Return a batch as it is recorded."""

    def refusal(self, calls: R_contra, times: int, refusal_id: UUID) -> LoggedAggregate:
        """Return refused calls as they are recorded, by an id of their own."""


class CallRecorder(Generic[A, E, R]):
    """Queues of one process, bounded; a task appends them every 100 ms.

    The events of one interval go into few commands, whatever their number.
    """

    def __init__(
        self,
        log: CommandLog,
        events: CallEvents[A, E, R],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._log = log
        self._events = events
        self._clock = clock
        self._ended: list[E] = []
        self._batches: dict[UUID, AgentBatch[A, E]] = {}
        self._closed: list[AgentBatch[A, E]] = []
        self._batched = 0
        self._refused: FoldedRefusals[R] = FoldedRefusals()
        self._due: list[DueRefusals[R]] = []
        # What is being appended stays in its queue until then.
        self._flushing = asyncio.Lock()

    @property
    def name(self) -> str:
        return self._events.name

    def refuse_if_full(self) -> None:
        """Refuse to admit more calls than can be recorded.

        :raises UnavailableError: too many wait already
        """
        if len(self._ended) + self._batched >= WAITING_MAX:
            raise UnavailableError(
                f"too many {self.name} wait for being recorded; try again later",
                code="overloaded",
                headers=RETRY_LATER,
            )

    def ended(self, how: E) -> None:
        """Record the end of a call that was admitted by an event of its own."""
        self._ended.append(how)

    def batched(self, agent_id: UUID, token_id: str, admitted: A) -> None:
        """Record the admission of a call in the mode ``batched``."""
        batch = self._batch(agent_id)
        batch.admitted.append(admitted)
        batch.token_ids.append(token_id)
        self._batched += 1

    def batched_ended(self, agent_id: UUID, how: E) -> None:
        self._batch(agent_id).finished.append(how)
        self._batched += 1

    def refused(self, calls: R) -> None:
        """Record a refusal: the first at once, equal ones together a second later."""
        if not self._refused.add(calls):
            self._events.unrecorded.inc()

    def _batch(self, agent_id: UUID) -> AgentBatch[A, E]:
        batch = self._batches.get(agent_id)
        if batch is not None and batch.size >= BATCH_MAX:
            self._closed.append(batch)
            batch = None
        if batch is None:
            batch = self._batches[agent_id] = AgentBatch(agent_id=agent_id)
        return batch

    async def flush(self, *, all_of_them: bool = False) -> None:
        """Append what waits; what can't be appended now waits for the next time."""
        async with self._flushing:
            await self._flush_ended()
            await self._flush_batches()
            await self._flush_refused(all_of_them=all_of_them)

    async def _flush_ended(self) -> None:
        while self._ended:
            taken, self._ended = self._ended[:EVENTS_MAX], self._ended[EVENTS_MAX:]
            if not await self._append(taken, self._events.end):
                self._ended = taken + self._ended
                return

    async def _flush_batches(self) -> None:
        self._closed += self._batches.values()
        self._batches = {}
        while self._closed:
            taken = self._closed[:EVENTS_MAX]
            if not await self._append(taken, self._save_batches):
                # Perhaps it was appended and only its outcome is unknown.
                for batch in taken:
                    batch.is_doubtful = True
                return
            del self._closed[: len(taken)]
            self._batched -= sum(batch.size for batch in taken)

    async def _save_batches(
        self, batches: Sequence[AgentBatch[A, E]], work: UnitOfWork
    ) -> None:
        for batch in batches:
            if batch.is_doubtful and await work.find(LoggedAggregate, batch.id):
                continue
            work.save(await self._events.batch(batch, work))

    async def _flush_refused(self, *, all_of_them: bool) -> None:
        if await self._append_due():
            # While some wait, others are counted together.
            self._due += self._refused.due(self._clock(), all_of_them=all_of_them)
            await self._append_due()

    async def _append_due(self) -> bool:
        while self._due:
            taken = self._due[:EVENTS_MAX]
            if not await self._append(taken, self._save_refusals):
                for each in taken:
                    each.is_doubtful = True
                return False
            del self._due[: len(taken)]
        return True

    async def _save_refusals(
        self, refusals: Sequence[DueRefusals[R]], work: UnitOfWork
    ) -> None:
        for each in refusals:
            if each.is_doubtful and await work.find(LoggedAggregate, each.id):
                continue
            work.save(self._events.refusal(each.calls, each.times, each.id))

    async def _append(
        self, items: Sequence[T], save: Callable[[Sequence[T], UnitOfWork], Saved]
    ) -> bool:
        """Append what items mean; return False if that is to be tried again."""
        try:
            await execute(
                self._log,
                partial(save, items),
                metadata=SYSTEM,
                at=datetime.now(UTC),
            )
        except (ServiceError, psycopg.Error) as error:
            logger.warning(
                "%s were not recorded yet",
                self.name,
                extra={"reason": type(error).__name__},
            )
            return False
        except Exception:
            if len(items) > 1:
                # One of them is to blame, and the others are not to wait for it.
                alone = [await self._append([each], save) for each in items]
                return all(alone)
            logger.exception("one of the %s could not be recorded", self.name)
            self._events.unrecorded.inc()
        return True


@asynccontextmanager
async def recording_calls(recorder: CallRecorder[A, E, R]) -> AsyncIterator[None]:
    """Record calls while the application runs, and the last ones at its end."""
    stop = asyncio.Event()

    async def keep_flushing() -> None:
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(INTERVAL_S):
                    await stop.wait()
            await recorder.flush()

    # Not cancelled: what it has taken from the queues would be lost.
    task = background_task(keep_flushing, name=recorder.name)
    try:
        yield
    finally:
        stop.set()
        await task
        await recorder.flush(all_of_them=True)
