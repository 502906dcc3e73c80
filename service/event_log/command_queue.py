"""The bounded queue of the commands that wait for a commit."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from service.errors import RETRY_LATER
from service.event_log.append import Append, OverloadedError
from service.event_log.pending import (
    BATCH_COMMANDS_MAX,
    NO_BASES,
    BaseFailedError,
    PendingCommand,
    PendingCommands,
)

BATCH_BYTES_MAX = 4 * 1024 * 1024
QUEUE_COMMANDS_MAX = 4096
QUEUE_BYTES_MAX = 64 * 1024 * 1024


class CommandQueue:
    """A FIFO queue, bounded in number, bytes and time.

    Commands come after those that they rest on, and never without them: when one
    fails, all that rest on it do.
    """

    def __init__(self) -> None:
        self.pending = PendingCommands()
        self._waiting: deque[PendingCommand] = deque()
        self._bytes = 0
        self._arrival = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    def put(
        self, append: Append, bases: Mapping[UUID, PendingCommand] = NO_BASES
    ) -> PendingCommand:
        """Add a command, which rests on pending ones, at the end.

        One that has lost already comes back with its outcome, or gets that of the
        pending command that has its idempotency key.

        :raises OverloadedError: when too many wait, or too large ones
        """
        size = append.size
        if len(self._waiting) >= QUEUE_COMMANDS_MAX or (
            self._waiting and self._bytes + size > QUEUE_BYTES_MAX
        ):
            raise OverloadedError("too many commands are waiting", headers=RETRY_LATER)
        pending = self.pending
        command = PendingCommand(append, size, pending, bases)
        if bases and command.has_failed_base:
            command.end(BaseFailedError())
            return command
        overtaken = pending.overtaken(append)
        if overtaken is not None:
            command.end(overtaken)
            return command
        if append.receipt is not None:
            first = pending.first_with(append.receipt.key)
            if first is not None:
                first.repeated_by(command)
                return command
        pending.add(command)
        self._waiting.append(command)
        self._bytes += size
        self._arrival.set()
        return command

    def put_back(self, batch: Sequence[PendingCommand]) -> None:
        """Return commands to the front, in their order."""
        self._waiting.extendleft(reversed(batch))
        self._bytes += sum(command.size for command in batch)

    def wake(self) -> None:
        self._arrival.set()

    async def arrival(self) -> None:
        """Wait until a command comes, or for :meth:`wake`."""
        self._arrival.clear()
        if not self._waiting:
            await self._arrival.wait()

    def take(self) -> list[PendingCommand]:
        """Choose the commands of one commit, in their order."""
        batch: list[PendingCommand] = []
        written: set[Any] = set()
        size = 0
        batch_max = BATCH_COMMANDS_MAX
        while self._waiting and len(batch) < BATCH_COMMANDS_MAX:
            command = self._waiting[0]
            if command.outcome is not None:
                self._pop()
                continue
            append = command.append
            batch_max = min(batch_max, command.batch_max)
            if batch and (
                len(batch) >= batch_max
                or size + command.size > BATCH_BYTES_MAX
                # Its version check would be blind to a neighbour's insert.
                or (
                    not written.isdisjoint(append.reads)
                    and not written.isdisjoint(append.reads.keys() - command.bases)
                )
            ):
                break
            self._pop()
            batch.append(command)
            size += command.size
            for event in append.events:
                written.add(event.originator_id)
        return batch

    def _pop(self) -> None:
        self._bytes -= self._waiting.popleft().size

    def fail_all(self, error: Callable[[], Exception]) -> None:
        """Fail every queued command and empty the queue."""
        for command in self._waiting:
            command.end(error())
        self._waiting.clear()
        self._bytes = 0

    def fail_older(self, age_s: float, error: Callable[[], Exception]) -> None:
        """Fail the commands that have waited longer than that; take() drops them."""
        limit = time.monotonic() - age_s
        for command in self._waiting:
            if command.since < limit:
                command.end(error())
        self.fail_dependants()

    def fail_dependants(self) -> None:
        """Fail the queued commands that rest on one that has failed.

        They can't be sent: a version check would take another process's event for
        the one that they rest on.
        """
        if not self.pending.has_failures:
            return
        # Commands are queued after those that they rest on, so one pass finds all.
        for command in self._waiting:
            if command.bases and command.has_failed_base:
                command.end(BaseFailedError())
        self.pending.has_failures = False
