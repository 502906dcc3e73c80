"""Record what nobody waits for: ends of calls, refusals, and batched calls."""

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Final
from uuid import UUID, uuid4

import psycopg

from service.errors import RETRY_LATER, ServiceError, UnavailableError
from service.event_log.execute import Decide, execute
from service.event_log.protocol import CommandLog
from service.event_log.unit_of_work import UnitOfWork
from service.gateway.calls.aggregate import (
    BatchedCall,
    FinishedCall,
    ToolCall,
    ToolCallBatch,
    ToolCallRefusal,
)
from service.gateway.gate import RefusalReason
from service.gateway.metrics import UNRECORDED
from service.tasks import background_task

INTERVAL_S: Final = 0.1
FOLDED_FOR_S: Final = 1.0
WAITING_MAX: Final = 10_000
# Events of one command: well below what one batch of the log holds.
EVENTS_MAX: Final = 200
REFUSALS_MAX: Final = 10_000
# Turns of one agent within a second: a flood that names other turns is still folded.
REFUSED_TURNS_MAX: Final = 20
# Names of one agent within a second, likewise.
REFUSED_NAMES_MAX: Final = 20
SYSTEM: Final = {"actor": "system"}
GATEWAY_BUSY: Final = "too many tool calls wait for being recorded; try again later"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedCalls:
    """The key of refused calls that are recorded together."""

    agent_id: UUID
    token_id: UUID
    user_id: UUID | None
    connector_id: UUID | None
    tool: str | None
    reason: RefusalReason
    asked_for: str | None = None
    session_id: str | None = None
    trace_id: str | None = None

    @property
    def names_a_turn(self) -> bool:
        return self.session_id is not None or self.trace_id is not None


@dataclass(slots=True)
class _Folded:
    since: float | None = None
    times: int = 0


@dataclass(slots=True)
class _AgentBatch:
    """The batched calls of one agent since the last event about them."""

    admitted: list[BatchedCall] = field(default_factory=list)
    finished: list[FinishedCall] = field(default_factory=list)
    token_ids: list[str] = field(default_factory=list)
    batch_id: UUID = field(default_factory=uuid4)
    is_doubtful: bool = False

    @property
    def size(self) -> int:
        return len(self.admitted) + len(self.finished)


class CallRecorder:
    """Queues of one process, bounded; a task appends them every 100 ms.

    The events of one interval go into few commands, whatever their number.
    """

    def __init__(
        self, log: CommandLog, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._log = log
        self._clock = clock
        self._ended: list[FinishedCall] = []
        self._batches: dict[UUID, _AgentBatch] = {}
        self._closed: list[tuple[UUID, _AgentBatch]] = []
        self._batched = 0
        self._refused: dict[RefusedCalls, _Folded] = {}
        # By agent: how many of these name a turn.
        self._of_turns: Counter[UUID] = Counter()
        # By agent: how many have a name that was asked for.
        self._of_names: Counter[UUID] = Counter()

    def refuse_if_full(self) -> None:
        """Refuse to admit more calls than can be recorded.

        :raises UnavailableError: too many wait already
        """
        if len(self._ended) + self._batched >= WAITING_MAX:
            raise UnavailableError(GATEWAY_BUSY, code="overloaded", headers=RETRY_LATER)

    def ended(self, how: FinishedCall) -> None:
        """Record the end of a call that was admitted by an event of its own."""
        self._ended.append(how)

    def batched(self, agent_id: UUID, token_id: str, admitted: BatchedCall) -> None:
        """Record the admission of a call in the mode ``batched``."""
        batch = self._batches.setdefault(agent_id, _AgentBatch())
        batch.admitted.append(admitted)
        batch.token_ids.append(token_id)
        self._batched += 1

    def batched_ended(self, agent_id: UUID, how: FinishedCall) -> None:
        self._batches.setdefault(agent_id, _AgentBatch()).finished.append(how)
        self._batched += 1

    def refused(self, calls: RefusedCalls) -> None:
        """Record a refusal: the first at once, equal ones together a second later."""
        folded = self._refused.get(calls)
        if folded is None:
            calls = self._within_bounds(calls)
            folded = self._refused.get(calls)
        if folded is None:
            if len(self._refused) >= REFUSALS_MAX:
                UNRECORDED.inc()
                return
            folded = self._refused[calls] = _Folded()
            self._of_turns[calls.agent_id] += calls.names_a_turn
            self._of_names[calls.agent_id] += calls.asked_for is not None
        folded.times += 1

    def _within_bounds(self, calls: RefusedCalls) -> RefusedCalls:
        """Return refused calls without what too many others of the agent name."""
        if calls.names_a_turn and self._of_turns[calls.agent_id] >= REFUSED_TURNS_MAX:
            calls = replace(calls, session_id=None, trace_id=None)
        is_new = calls.asked_for is not None and calls not in self._refused
        if is_new and self._of_names[calls.agent_id] >= REFUSED_NAMES_MAX:
            calls = replace(calls, asked_for=None)
        return calls

    async def flush(self, *, all_of_them: bool = False) -> None:
        """Append what waits; what can't be appended now waits for the next time."""
        await self._flush_ended()
        await self._flush_batches()
        await self._flush_refused(all_of_them=all_of_them)

    async def _flush_ended(self) -> None:
        while self._ended:
            taken, self._ended = self._ended[:EVENTS_MAX], self._ended[EVENTS_MAX:]
            if not await self._append(partial(_end_calls, taken)):
                self._ended = taken + self._ended
                return

    async def _flush_batches(self) -> None:
        self._closed += [*self._batches.items()]
        self._batches = {}
        while self._closed:
            taken = self._closed[:EVENTS_MAX]
            if not await self._append(partial(_save_batches, taken)):
                # Perhaps it was appended and only its outcome is unknown.
                for _, batch in taken:
                    batch.is_doubtful = True
                return
            del self._closed[: len(taken)]
            self._batched -= sum(batch.size for _, batch in taken)

    async def _flush_refused(self, *, all_of_them: bool) -> None:
        now = self._clock()
        due: list[tuple[RefusedCalls, int]] = []
        for calls, folded in list(self._refused.items()):
            is_over = folded.since is None or now - folded.since >= FOLDED_FOR_S
            if not (is_over or all_of_them):
                continue
            if folded.times:
                due.append((calls, folded.times))
                folded.times, folded.since = 0, now
            else:
                del self._refused[calls]
                for counter, is_counted in (
                    (self._of_turns, calls.names_a_turn),
                    (self._of_names, calls.asked_for is not None),
                ):
                    counter[calls.agent_id] -= is_counted
                    if not counter[calls.agent_id]:
                        del counter[calls.agent_id]
        while due:
            taken, due = due[:EVENTS_MAX], due[EVENTS_MAX:]
            if not await self._append(partial(_save_refusals, taken)):
                for calls, times in [*taken, *due]:
                    self._refused.setdefault(calls, _Folded(now)).times += times
                return

    async def _append(self, decide: Decide[None]) -> bool:
        try:
            await execute(
                self._log,
                decide,
                metadata=SYSTEM,
                at=datetime.now(UTC),
            )
        except (ServiceError, psycopg.Error) as error:
            logger.warning(
                "tool calls were not recorded yet",
                extra={"reason": type(error).__name__},
            )
            return False
        return True


@asynccontextmanager
async def recording_calls(recorder: CallRecorder) -> AsyncIterator[None]:
    """Record calls while the application runs, and the last ones at its end."""
    stop = asyncio.Event()

    async def keep_flushing() -> None:
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(INTERVAL_S):
                    await stop.wait()
            await recorder.flush()

    # Not cancelled: what it has taken from the queues would be lost.
    task = background_task(keep_flushing, name="tool calls")
    try:
        yield
    finally:
        stop.set()
        await task
        await recorder.flush(all_of_them=True)


async def _end_calls(calls: Sequence[FinishedCall], work: UnitOfWork) -> None:
    for how in calls:
        call = await work.find(ToolCall, UUID(how["call_id"]))
        # It is over already where the outcome of an earlier attempt was unknown.
        if call is not None and call.finish(how):
            work.save(call)


async def _save_batches(
    batches: Sequence[tuple[UUID, _AgentBatch]], work: UnitOfWork
) -> None:
    for agent_id, batch in batches:
        if batch.is_doubtful and await work.find(ToolCallBatch, batch.batch_id):
            continue
        work.save(
            ToolCallBatch(
                id=batch.batch_id,
                agent_id=str(agent_id),
                admitted=batch.admitted,
                finished=batch.finished,
                token_ids=batch.token_ids,
            )
        )


async def _save_refusals(
    refusals: Sequence[tuple[RefusedCalls, int]], work: UnitOfWork
) -> None:
    for calls, times in refusals:
        work.save(_refusal(calls, times))


def _refusal(calls: RefusedCalls, times: int) -> ToolCallRefusal:
    return ToolCallRefusal(
        agent_id=str(calls.agent_id),
        token_id=str(calls.token_id),
        user_id=str(calls.user_id) if calls.user_id else None,
        connector_id=str(calls.connector_id) if calls.connector_id else None,
        tool=calls.tool,
        asked_for=calls.asked_for,
        reason=calls.reason.value,
        times=times,
        session_id=calls.session_id,
        trace_id=calls.trace_id,
    )
