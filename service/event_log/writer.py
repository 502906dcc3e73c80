"""Group commit: one database call commits all commands that wait."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self
from uuid import UUID

import psycopg
from prometheus_client import Histogram
from psycopg import AsyncConnection

from service.database import TRANSIENT, Db, deadline
from service.errors import RETRY_LATER, UnavailableError
from service.event_log.append import (
    Append,
    Appended,
    OutcomeUnknownError,
    OverloadedError,
    VersionConflictError,
)
from service.event_log.batch import APPEND, BatchResult, arguments, outcomes
from service.event_log.command_queue import CommandQueue
from service.event_log.commit_unknown import settle, was_refused
from service.event_log.durable import without_warnings
from service.event_log.history import History
from service.event_log.pending import NO_BASES, PendingCommand, bases_by_number
from service.event_log.writer_connection import WriterConnection
from service.outages import Outage
from service.spans import committing
from service.tasks import end_tasks
from service.unavailable import unavailable
from service.waits import Waits

RESUBMISSIONS_MAX = 3
RECONNECT_S = 0.2
EXPIRY_INTERVAL_S = 0.5
READ_ONLY = "25"
UNKNOWN = (
    "the outcome isn't known; send the request again with the same Idempotency-Key, "
    "or look before you repeat it"
)

DURATION = Histogram(
    "agent_runtime_append_duration_seconds",
    "Time of one commit of commands, with the wait for the end of the log, the disk "
    "and synchronous standbys.",
    buckets=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5),
)
LOCK_WAIT = Histogram(
    "agent_runtime_append_lock_wait_seconds",
    "Part of a commit in which PostgreSQL waited for the end of the log, which "
    "another process held. About 1 ms of it comes from how it is measured.",
    buckets=(0.001, 0.005, 0.02, 0.1, 0.5, 2),
)
BATCH = Histogram(
    "agent_runtime_append_batch_commands",
    "Commands that share one commit.",
    buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256),
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Time limits: for other commands, of a commit, and to settle an unknown outcome.

    ``queue_s`` is for each of what :class:`Waits` names. ``commit_s`` is longer than
    the server's own statement_timeout, so that only a lost server is given up.
    """

    queue_s: float = 5.0
    commit_s: float = 6.0
    settle_s: float = 5.0

    @classmethod
    def of(cls, waits: Waits) -> Self:
        return cls(
            queue_s=waits.commit_s,
            commit_s=waits.statement_s + 1,
            settle_s=waits.commit_s,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Observer:
    """Callbacks of the writer; ``on_commit`` and ``on_epoch`` may not block.

    ``on_connect`` sets the writer's history to that of the server it has reached.
    """

    on_connect: Callable[[Db], Awaitable[None]]
    on_commit: Callable[[Sequence[Append], BatchResult], None]
    on_epoch: Callable[[UUID], None]


class Writer:
    """The one task of a process that appends to the log.

    ``history`` is that of the log as far as this process knows; commands that were
    decided in another one are refused as conflicts.
    """

    def __init__(
        self, conninfo: str, observer: Observer, timeouts: Timeouts | None = None
    ) -> None:
        self.history: History | None = None
        self._conninfo = conninfo
        self._observer = observer
        self._timeouts = timeouts or Timeouts()
        self._queue = CommandQueue()
        self.pending = self._queue.pending
        self._connection = WriterConnection(conninfo, observer.on_connect)
        self._refusals = Outage()
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = False

    async def start(self) -> None:
        await self._connection.open()
        self._tasks = [
            asyncio.create_task(self._run(), name="event log writer"),
            asyncio.create_task(self._expire(), name="event log queue expiry"),
        ]

    async def stop(self) -> None:
        """Commit the queued commands, then end."""
        self._stopping = True
        self._queue.wake()
        if self._tasks:
            run, expire = self._tasks
            await run
            await end_tasks(expire)
        await self._connection.close()

    def submit(
        self, append: Append, bases: Mapping[UUID, PendingCommand] = NO_BASES
    ) -> asyncio.Future[Appended]:
        """Queue a command; the future has its outcome once it is durable.

        ``bases`` are the pending commands whose writes it has read, by the aggregate.
        Raises OverloadedError at once; the rest comes with the future.

        :raises VersionConflictError: an aggregate that it read has moved
        :raises AlreadyAnsweredError: its idempotency key has been used
        :raises OverloadedError: the queue is full, or too slow; nothing was appended
        :raises UnavailableError: the database is away; nothing was appended
        :raises OutcomeUnknownError: the connection was lost at the commit
        """
        if self._stopping:
            raise OverloadedError("the service is stopping", headers=RETRY_LATER)
        # A caller who disconnects cancels only this future, not the command.
        return self._queue.put(append, bases).done

    async def _run(self) -> None:
        live = self._connection.live
        while self._queue or not self._stopping:
            if not self._queue:
                await self._queue.arrival()
                continue
            connection = await live()
            if connection is None:
                self._queue.fail_all(_unreachable)
                await asyncio.sleep(RECONNECT_S)
                continue
            batch = self._queue.take()
            try:
                await self._commit(connection, batch)
            except Exception:
                # The only task that can answer queued commands must go on.
                logger.exception("the event log's writer failed")
                _fail(batch, _unknown)
            self._queue.fail_dependants()

    async def _expire(self) -> None:
        while True:
            await asyncio.sleep(EXPIRY_INTERVAL_S)
            self._queue.fail_older(
                self._timeouts.queue_s,
                lambda: OverloadedError(
                    f"the commands before this one took more than "
                    f"{self._timeouts.queue_s:g} s; nothing was changed; please retry",
                    headers=RETRY_LATER,
                ),
            )

    async def _commit(
        self, connection: AsyncConnection, batch: list[PendingCommand]
    ) -> None:
        history = self.history
        assert history is not None
        epoch = history.epoch
        for waiting in batch:
            if waiting.append.history != history or (
                waiting.bases and waiting.has_failed_base
            ):
                waiting.end(VersionConflictError())
        batch = [waiting for waiting in batch if waiting.outcome is None]
        if not batch:
            return
        commands = [waiting.append for waiting in batch]
        BATCH.observe(len(commands))
        began = time.perf_counter()
        try:
            with (
                committing([each.span for each in batch if each.span], len(batch)),
                without_warnings(connection),
                deadline(connection, self._timeouts.commit_s),
            ):
                cursor = await connection.execute(
                    APPEND,
                    arguments(epoch, commands, bases_by_number(batch)),
                    prepare=True,
                )
                row = await cursor.fetchone()
        except Exception as error:  # noqa: BLE001 # encoding a value may raise anything
            await self._recover(connection, batch, error)
            return
        DURATION.observe(time.perf_counter() - began)
        assert row is not None
        result = outcomes(epoch, commands, row)
        if result.epoch != epoch:
            self._observer.on_epoch(result.epoch)
        else:
            LOCK_WAIT.observe(result.lock_wait_s)
        self._answer(batch, result)

    def _answer(self, batch: Sequence[PendingCommand], result: BatchResult) -> None:
        for waiting, outcome in zip(batch, result.outcomes, strict=True):
            waiting.end(outcome)
        if self._refusals.has_ended():
            logger.info("appends are accepted again")
        try:
            self._observer.on_commit([waiting.append for waiting in batch], result)
        except Exception:
            # It is committed and answered; the cache is only a shortcut.
            logger.exception("can't follow up a commit")

    async def _recover(
        self, connection: AsyncConnection, batch: list[PendingCommand], error: Exception
    ) -> None:
        if not was_refused(connection, error):
            logger.warning("connection lost at a commit; looking up its outcome")
            await self._connection.close()
            await self._settle(batch)
            return
        sqlstate = (error.sqlstate or "") if isinstance(error, psycopg.Error) else ""
        if sqlstate[:2] in TRANSIENT:
            level, said = self._refusals.level(sqlstate), unavailable(error).message
            logger.log(level, "append refused: %s", said, extra={"sqlstate": sqlstate})
            _fail(batch, lambda: unavailable(error))
            if sqlstate.startswith(READ_ONLY):
                # The server became a standby; a new connection may reach the primary.
                await self._connection.close()
        elif len(batch) == 1:
            batch[0].end(error)
        else:
            # One of them can't be stored: smaller batches find out which.
            for waiting in batch:
                waiting.batch_max = len(batch) // 2
            self._queue.put_back(batch)

    async def _settle(self, batch: list[PendingCommand]) -> None:
        """Look up the outcome of a batch whose reply was lost; never retry blindly."""
        backend = self._connection.backend
        assert backend is not None
        settled = await settle(
            self._conninfo,
            backend,
            [waiting.append for waiting in batch],
            timeout_s=self._timeouts.settle_s,
        )
        if settled is None:
            _fail(batch, _unknown)
            return
        applied: list[tuple[PendingCommand, Appended]] = []
        again: list[PendingCommand] = []
        for waiting, appended in zip(batch, settled, strict=True):
            if appended is not None:
                applied.append((waiting, appended))
            elif waiting.submissions >= RESUBMISSIONS_MAX:
                waiting.end(_unreachable())
            else:
                waiting.submissions += 1
                again.append(waiting)
        self._queue.put_back(again)
        if applied:
            assert self.history is not None
            last = max(appended.position or 0 for _, appended in applied)
            # The base position isn't known, and isn't needed.
            result = BatchResult(
                self.history.epoch, -1, last, [found for _, found in applied]
            )
            self._answer([waiting for waiting, _ in applied], result)


def _fail(batch: Iterable[PendingCommand], error: Callable[[], Exception]) -> None:
    for waiting in batch:
        waiting.end(error())


def _unreachable() -> UnavailableError:
    return unavailable(psycopg.OperationalError())


def _unknown() -> OutcomeUnknownError:
    return OutcomeUnknownError(UNKNOWN, headers=RETRY_LATER)
