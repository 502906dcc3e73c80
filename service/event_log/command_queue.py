"""The bounded queue of the commands that wait for a commit."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from service.event_log.append import (
    Append,
    Appended,
    OverloadedError,
    VersionConflictError,
)

BATCH_COMMANDS_MAX = 256
BATCH_BYTES_MAX = 4 * 1024 * 1024
QUEUE_COMMANDS_MAX = 4096
QUEUE_BYTES_MAX = 64 * 1024 * 1024
RETRY_LATER = {"Retry-After": "1"}


@dataclass(slots=True, eq=False)
class QueuedCommand:
    """A command, and the future of its handler.

    ``batch_max`` is how many commands may share its commit, itself included: it is
    halved when a commit fails and any of them can be the reason.
    """

    append: Append
    done: asyncio.Future[Appended]
    size: int
    since: float = field(default_factory=time.monotonic)
    batch_max: int = BATCH_COMMANDS_MAX
    submissions: int = 0
    failed: bool = False

    def fail(self, error: Exception) -> None:
        self.failed = True
        if not self.done.done():
            self.done.set_exception(error)


class CommandQueue:
    """A FIFO queue, bounded in number, bytes and time."""

    def __init__(self) -> None:
        self._waiting: deque[QueuedCommand] = deque()
        self._bytes = 0
        self._arrival = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, append: Append) -> QueuedCommand:
        """Add a command at the end.

        :raises OverloadedError: when too many wait, or too large ones
        """
        size = append.size
        if len(self._waiting) >= QUEUE_COMMANDS_MAX or (
            self._waiting and self._bytes + size > QUEUE_BYTES_MAX
        ):
            raise OverloadedError("too many commands are waiting", headers=RETRY_LATER)
        waiting = QueuedCommand(
            append, asyncio.get_running_loop().create_future(), size
        )
        self._waiting.append(waiting)
        self._bytes += size
        self._arrival.set()
        return waiting

    def put_back(self, batch: Sequence[QueuedCommand]) -> None:
        """Return commands to the front, in their order."""
        self._waiting.extendleft(reversed(batch))
        self._bytes += sum(waiting.size for waiting in batch)

    def wake(self) -> None:
        self._arrival.set()

    async def arrival(self) -> None:
        """Wait until a command comes, or for :meth:`wake`."""
        self._arrival.clear()
        if not self._waiting:
            await self._arrival.wait()

    def take(self) -> tuple[list[QueuedCommand], list[QueuedCommand]]:
        """Choose the commands of one commit, and those that have to wait for it.

        A command that touches what an earlier one writes waits, for its version
        check would be blind to a neighbour's insert. It stays at the front of the
        queue.
        """
        batch: list[QueuedCommand] = []
        later: list[QueuedCommand] = []
        written: set[Any] = set()
        keys: set[bytes] = set()
        size = 0
        batch_max = BATCH_COMMANDS_MAX
        while self._waiting and len(batch) + len(later) < BATCH_COMMANDS_MAX:
            waiting = self._waiting[0]
            if waiting.failed:
                self._pop()
                continue
            batch_max = min(batch_max, waiting.batch_max)
            if batch and (
                len(batch) >= batch_max or size + waiting.size > BATCH_BYTES_MAX
            ):
                break
            self._pop()
            append = waiting.append
            key = append.receipt.key if append.receipt else None
            if not written.isdisjoint(append.reads) or key in keys:
                later.append(waiting)
            else:
                batch.append(waiting)
                size += waiting.size
            for event in append.events:
                written.add(event.originator_id)
            if key is not None:
                keys.add(key)
        self.put_back(later)
        return batch, later

    def _pop(self) -> None:
        self._bytes -= self._waiting.popleft().size

    def fail_all(self, error: Callable[[], Exception]) -> None:
        """Fail every queued command and empty the queue."""
        for waiting in self._waiting:
            waiting.fail(error())
        self._waiting.clear()
        self._bytes = 0

    def fail_older(self, age_s: float, error: Callable[[], Exception]) -> None:
        """Fail the commands that have waited longer than that; take() drops them."""
        limit = time.monotonic() - age_s
        for waiting in self._waiting:
            if waiting.since < limit:
                waiting.fail(error())


def refuse_stale(
    batch: Iterable[QueuedCommand], later: Sequence[QueuedCommand]
) -> None:
    """Refuse queued commands at once whose facts the last batch has moved."""
    if not later:
        return
    moved = {
        aggregate.id: aggregate.version
        for waiting in batch
        if waiting.done.done()
        and not waiting.done.cancelled()
        and waiting.done.exception() is None
        for aggregate in waiting.append.aggregates
    }
    for waiting in later:
        if any(
            version < moved.get(aggregate_id, 0)
            for aggregate_id, version in waiting.append.reads.items()
        ):
            waiting.fail(VersionConflictError())
