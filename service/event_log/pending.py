"""Commands that wait for their commit, and the aggregates as these will leave them."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from service.aggregate import LoggedAggregate
from service.event_log.append import (
    AlreadyAnsweredError,
    Append,
    Appended,
    VersionConflictError,
)
from service.event_log.history import History
from service.spans import waiting_for_commit

BATCH_COMMANDS_MAX = 256
# Bounds those of one aggregate; as many as a commit holds.
PENDING_WRITES_MAX = BATCH_COMMANDS_MAX
NO_BASES: Mapping[UUID, "PendingCommand"] = {}


class BaseFailedError(VersionConflictError):
    """A command whose events the decision rests on was not appended."""


class OvertakenError(VersionConflictError):
    """A command that is queued already writes what this one has read before it."""

    def __init__(self, aggregate_id: UUID, writer: "PendingCommand") -> None:
        super().__init__()
        self.aggregate_id = aggregate_id
        self.writer = writer


class PendingCommand:
    """A command without an outcome yet, and the future of its handler.

    ``bases`` are the pending commands that it rests on, by the aggregate that it read
    as they will leave it. ``batch_max`` is how many commands may share its commit,
    itself included: it is halved when a commit fails and any of them can be the reason.
    """

    __slots__ = (
        "_ended",
        "_pending",
        "_repeats",
        "append",
        "bases",
        "batch_max",
        "done",
        "outcome",
        "since",
        "size",
        "span",
        "submissions",
    )

    def __init__(
        self,
        append: Append,
        size: int,
        pending: "PendingCommands",
        bases: Mapping[UUID, "PendingCommand"],
    ) -> None:
        self.append = append
        self.done: asyncio.Future[Appended] = asyncio.get_running_loop().create_future()
        self.size = size
        self.bases = bases
        self.since = time.monotonic()
        self.batch_max = BATCH_COMMANDS_MAX
        self.submissions = 0
        self.outcome: Appended | Exception | None = None
        self.span = waiting_for_commit()
        self._pending = pending
        self._repeats: list[PendingCommand] | None = None
        self._ended: asyncio.Event | None = None

    @property
    def has_failed(self) -> bool:
        return isinstance(self.outcome, Exception)

    @property
    def has_failed_base(self) -> bool:
        return any(base.has_failed for base in self.bases.values())

    def end(self, outcome: Appended | Exception) -> None:
        """Give the command its outcome, unless it has one.

        Not even a cancelled future, of a caller who has disconnected, ends it before.
        """
        if self.outcome is not None:
            return
        self.outcome = outcome
        self._pending.remove(self)
        if self.has_failed:
            self._pending.has_failures = True
        if self.span is not None:
            self.span.ended(outcome)
        # Each command would keep the one before it in memory.
        self.bases = NO_BASES
        if not self.done.done():
            if isinstance(outcome, Appended):
                self.done.set_result(outcome)
            else:
                self.done.set_exception(outcome)
        if self._ended is not None:
            self._ended.set()
        for repeat in self._repeats or ():
            repeat.end(self._answer_to_repeat(outcome))

    def repeated_by(self, repeat: "PendingCommand") -> None:
        """Answer another command with this one's idempotency key, at its end."""
        self._repeats = self._repeats or []
        self._repeats.append(repeat)

    def _answer_to_repeat(self, outcome: Appended | Exception) -> Exception:
        if not isinstance(outcome, Appended):
            # Decided again, and then perhaps answered by the log.
            return VersionConflictError()
        assert self.append.receipt is not None
        return AlreadyAnsweredError(
            replace(self.append.receipt, position=outcome.position)
        )

    async def ended(self) -> None:
        """Wait for the outcome, whatever it is."""
        if self.outcome is None:
            if self._ended is None:
                self._ended = asyncio.Event()
            await self._ended.wait()


class PendingCommands:
    """What the pending commands of this process write, in their order.

    ``writes`` are an aggregate's states after each of them, by the id's number, whose
    hash is cheaper. Only commands may read them, and rest on their writers then.
    ``has_failures`` says that commands have failed on which others may rest.
    """

    def __init__(self) -> None:
        self.has_failures = False
        self.writes: dict[int, list[tuple[LoggedAggregate, PendingCommand]]] = {}
        self._keys: dict[bytes, PendingCommand] = {}

    async def latest(
        self, aggregate_id: UUID, history: History
    ) -> tuple[LoggedAggregate, PendingCommand] | None:
        """Return an aggregate as the last pending command leaves it, and that command.

        Waits while there are too many, and for one with sealed values: they can't be
        opened before they are committed. None if only the log has the aggregate.
        """
        while writes := self.writes.get(aggregate_id.int):
            writer = writes[-1][1]
            if writer.append.history != history:
                # It will be refused.
                return None
            if writer.append.sealed:
                await writer.ended()
            elif len(writes) >= PENDING_WRITES_MAX:
                await writes[0][1].ended()
            else:
                return writes[-1]
        return None

    def overtaken(self, append: Append) -> OvertakenError | None:
        """Return the conflict of a command with those that would come before it."""
        if self.writes:
            for aggregate_id, version in append.reads.items():
                writes = self.writes.get(aggregate_id.int)
                if writes:
                    state, writer = writes[-1]
                    if (
                        state.version != version
                        and writer.append.history == append.history
                    ):
                        return OvertakenError(aggregate_id, writer)
        return None

    def first_with(self, key: bytes) -> PendingCommand | None:
        """Return the pending command with an idempotency key."""
        return self._keys.get(key)

    def add(self, command: PendingCommand) -> None:
        for aggregate in command.append.aggregates:
            write = (aggregate, command)
            self.writes.setdefault(aggregate.id.int, []).append(write)
        receipt = command.append.receipt
        if receipt is not None:
            self._keys[receipt.key] = command

    def remove(self, command: PendingCommand) -> None:
        for aggregate in command.append.aggregates:
            key = aggregate.id.int
            # A command that was never queued has none; nearly always it is the first.
            writes = self.writes.get(key, [])
            for index, (_, writer) in enumerate(writes):
                if writer is command:
                    del writes[index]
                    if not writes:
                        del self.writes[key]
                    break
        receipt = command.append.receipt
        if receipt is not None and self._keys.get(receipt.key) is command:
            del self._keys[receipt.key]


def bases_by_number(batch: Sequence[PendingCommand]) -> dict[int, dict[UUID, int]]:
    """Return which commands of a batch rest on which earlier ones, by number."""
    if not any(command.bases for command in batch):
        return {}
    numbers = {command: number for number, command in enumerate(batch, start=1)}
    return {
        number: {
            aggregate_id: numbers[base]
            for aggregate_id, base in command.bases.items()
            # The others have been committed: their writes are in the log.
            if base in numbers
        }
        for command, number in numbers.items()
        if command.bases
    }
