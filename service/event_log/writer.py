"""Group commit: whatever commands wait are committed by one database call."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import AsyncConnection

from service.errors import UnavailableError
from service.event_log.append import (
    Append,
    Appended,
    OutcomeUnknownError,
    OverloadedError,
    VersionConflictError,
)
from service.event_log.batch import APPEND, BatchResult, arguments, outcomes
from service.event_log.commit_unknown import Backend, settle

BATCH_COMMANDS_MAX = 256
BATCH_BYTES_MAX = 4 * 1024 * 1024
QUEUE_COMMANDS_MAX = 4096
# A commit that takes longer than this counts as lost.
COMMIT_TIMEOUT_S = 15.0
RESUBMISSIONS_MAX = 3
RECONNECT_S = 0.2
RETRY_LATER = {"Retry-After": "1"}
UNKNOWN = (
    "the outcome isn't known; send the request again with the same Idempotency-Key, "
    "or look before you repeat it"
)

logger = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Waiting:
    """A command in the queue, and the future of whoever waits for it."""

    append: Append
    done: asyncio.Future[Appended]
    submissions: int = 0
    alone: bool = False


class Writer:
    """The one task of a process that appends to the log."""

    def __init__(
        self, conninfo: str, on_commit: Callable[[Sequence[Append], BatchResult], None]
    ) -> None:
        self._conninfo = conninfo
        self._on_commit = on_commit
        self._queue: deque[Waiting] = deque()
        self._wake = asyncio.Event()
        self._connection: AsyncConnection | None = None
        self._backend: Backend | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    async def start(self) -> None:
        await self._connect()
        self._task = asyncio.create_task(self._run(), name="event log writer")

    async def stop(self) -> None:
        """Commit what waits, then end."""
        self._stopping = True
        self._wake.set()
        if self._task:
            await self._task
        if self._connection:
            await self._connection.close()

    @property
    def queued(self) -> int:
        return len(self._queue)

    async def append(self, append: Append) -> Appended:
        """Wait until the command is durable.

        :raises VersionConflictError: an aggregate that it read has moved
        :raises AlreadyAnsweredError: its idempotency key has been used
        :raises OverloadedError: the queue is full; nothing was appended
        :raises UnavailableError: the database is away; nothing was appended
        :raises OutcomeUnknownError: the connection was lost at the commit
        """
        if self._stopping or len(self._queue) >= QUEUE_COMMANDS_MAX:
            raise OverloadedError("too many commands are waiting", headers=RETRY_LATER)
        waiting = Waiting(append, asyncio.get_running_loop().create_future())
        self._queue.append(waiting)
        self._wake.set()
        # A caller who goes away doesn't take the command back.
        return await asyncio.shield(waiting.done)

    async def _run(self) -> None:
        while True:
            if not self._queue:
                if self._stopping:
                    return
                self._wake.clear()
                await self._wake.wait()
                continue
            connection = self._connection
            if connection is None or connection.closed:
                try:
                    connection = await self._connect()
                except (psycopg.Error, OSError):
                    logger.warning("the event log can't be reached")
                    _fail(self._queue, _unavailable())
                    self._queue.clear()
                    await asyncio.sleep(RECONNECT_S)
                    continue
            batch, later = self._take()
            try:
                await self._commit(connection, batch)
            except Exception:
                # Nobody else can answer those who wait, so this task goes on.
                logger.exception("the event log's writer failed")
                _fail(batch, OutcomeUnknownError(UNKNOWN, headers=RETRY_LATER))
            self._queue.extendleft(reversed(_refuse_stale(batch, later)))

    def _take(self) -> tuple[list[Waiting], list[Waiting]]:
        """Choose the commands of one commit, and those that have to wait for it.

        A command that touches what an earlier one writes waits, for its version
        check would be blind to a neighbour's insert. It goes before all that came
        after it.
        """
        batch: list[Waiting] = []
        later: list[Waiting] = []
        written: set[Any] = set()
        keys: set[bytes] = set()
        size = 0
        while self._queue and len(batch) + len(later) < BATCH_COMMANDS_MAX:
            waiting = self._queue[0]
            if waiting.alone and batch:
                break
            append = waiting.append
            bytes_more = sum(len(event.state) for event in append.events)
            if batch and size + bytes_more > BATCH_BYTES_MAX:
                break
            self._queue.popleft()
            key = append.receipt.key if append.receipt else None
            if not written.isdisjoint(append.reads) or key in keys:
                later.append(waiting)
            else:
                batch.append(waiting)
                size += bytes_more
            written.update(event.originator_id for event in append.events)
            if key is not None:
                keys.add(key)
            if waiting.alone:
                break
        return batch, later

    async def _commit(self, connection: AsyncConnection, batch: list[Waiting]) -> None:
        commands = [waiting.append for waiting in batch]
        try:
            async with asyncio.timeout(COMMIT_TIMEOUT_S):
                cursor = await connection.execute(
                    APPEND, arguments(commands), prepare=True
                )
                row = await cursor.fetchone()
        except (psycopg.Error, OSError, TimeoutError) as error:
            await self._recover(connection, batch, error)
            return
        assert row is not None
        self._answer(batch, outcomes(commands, row))

    def _answer(self, batch: Sequence[Waiting], result: BatchResult) -> None:
        self._on_commit([waiting.append for waiting in batch], result)
        for waiting, outcome in zip(batch, result.outcomes, strict=True):
            if waiting.done.done():
                continue
            if isinstance(outcome, Appended):
                waiting.done.set_result(outcome)
            else:
                waiting.done.set_exception(outcome)

    async def _recover(
        self,
        connection: AsyncConnection,
        batch: list[Waiting],
        error: psycopg.Error | OSError,
    ) -> None:
        if isinstance(error, psycopg.Error) and not connection.closed:
            # The server answered: it did not commit.
            if isinstance(error, psycopg.OperationalError):
                logger.warning("append refused", extra={"sqlstate": error.sqlstate})
                _fail(batch, _unavailable())
            elif len(batch) > 1:
                # One of them can't be stored; the others go on without it.
                for waiting in batch:
                    waiting.alone = True
                self._queue.extendleft(reversed(batch))
            else:
                _fail(batch, error)
            return
        logger.warning("connection lost at a commit; asking the log for its outcome")
        self._connection = None
        await connection.close()
        await self._settle(batch)

    async def _settle(self, batch: list[Waiting]) -> None:
        """Learn what became of a batch whose reply was lost; never repeat blindly."""
        assert self._backend is not None
        settled = await settle(
            self._conninfo, self._backend, [waiting.append for waiting in batch]
        )
        if settled is None:
            _fail(
                batch,
                OutcomeUnknownError(UNKNOWN, headers=RETRY_LATER),
            )
            return
        again: list[Waiting] = []
        for waiting, appended in zip(batch, settled, strict=True):
            if appended is not None:
                if not waiting.done.done():
                    waiting.done.set_result(appended)
            elif waiting.submissions >= RESUBMISSIONS_MAX:
                _fail([waiting], _unavailable())
            else:
                waiting.submissions += 1
                again.append(waiting)
        self._queue.extendleft(reversed(again))

    async def _connect(self) -> AsyncConnection:
        connection = await AsyncConnection.connect(
            self._conninfo, autocommit=True, connect_timeout=5
        )
        self._backend = await Backend.of(connection)
        self._connection = connection
        return connection


def _refuse_stale(batch: Sequence[Waiting], later: Sequence[Waiting]) -> list[Waiting]:
    """Spare the waiting commands a round trip when their facts just moved."""
    moved = {
        aggregate.id: aggregate.version
        for waiting in batch
        if waiting.done.done()
        and not waiting.done.cancelled()
        and waiting.done.exception() is None
        for aggregate in waiting.append.aggregates
    }
    fresh: list[Waiting] = []
    for waiting in later:
        if any(
            version < moved.get(aggregate_id, 0)
            for aggregate_id, version in waiting.append.reads.items()
        ):
            _fail([waiting], VersionConflictError())
        else:
            fresh.append(waiting)
    return fresh


def _fail(batch: Iterable[Waiting], error: BaseException) -> None:
    for waiting in batch:
        if not waiting.done.done():
            waiting.done.set_exception(error)


def _unavailable() -> UnavailableError:
    return UnavailableError("the event log can't be reached", headers=RETRY_LATER)
