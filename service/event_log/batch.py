"""Commands of one commit: to arguments of ``events.append``, and from its result."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg.rows import TupleRow

from service.event_log.append import (
    AlreadyAnsweredError,
    Append,
    Appended,
    Receipt,
    VersionConflictError,
)
from service.event_log.binary_arrays import bigints, byteas, ints, texts, uuids

APPEND = """
    SELECT log_epoch, base_position, batch_recorded_at, conflicted, replayed,
           replayed_requests, replayed_answers, replayed_positions,
           -- The time is taken behind the lock of the log's end, unless the log is
           -- ahead of the clock: then this is the time of the whole function.
           greatest(extract(epoch FROM least(batch_recorded_at, clock_timestamp())
                                       - statement_timestamp()), 0)::float8
      FROM events.append(
           %b::uuid,
           %b::uuid[], %b::bigint[],
           %b::int[], %b::int[],
           %b::int[], %b::uuid[], %b::bigint[], %b::text[], %b::bytea[],
           %b::uuid[], %b::text[],
           %b::int[], %b::bytea[], %b::bytea[], %b::bytea[],
           %b::int[], %b::uuid[], %b::uuid[], %b::bytea[],
           %b::int[], %b::int[])
"""

MICROSECOND = timedelta(microseconds=1)
NO_BASES: Mapping[int, Mapping[UUID, int]] = {}

Outcome = Appended | VersionConflictError | AlreadyAnsweredError


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The outcomes of a batch's commands, in order.

    Its events have the positions ``base_position < p <= last_position``, all of them.
    ``epoch`` is the log's; if it isn't the commands', all of them were refused.
    ``lock_wait_s`` is the time that the batch waited for the lock of the log's end.
    """

    epoch: UUID
    base_position: int
    last_position: int
    outcomes: Sequence[Outcome]
    lock_wait_s: float = 0.0


def arguments(
    epoch: UUID,
    batch: Sequence[Append],
    bases: Mapping[int, Mapping[UUID, int]] = NO_BASES,
) -> list[Any]:
    """Return the arguments of ``events.append`` for commands decided in an epoch.

    ``bases`` are, by a command's number from 1, the numbers of those before it in the
    batch whose writes it has read, by the aggregate.
    """
    # Commands of one batch read the same callers, tokens and connectors.
    reads: dict[tuple[UUID, int], int] = {}
    readers: tuple[list[int], list[int]] = ([], [])
    events: tuple[list[Any], ...] = ([], [], [], [], [])
    receipts: tuple[list[Any], ...] = ([], [], [], [])
    sealed: tuple[list[Any], ...] = ([], [], [], [])
    rests: tuple[list[int], list[int]] = ([], [])
    for number, command in enumerate(batch, start=1):
        own_bases = bases.get(number) if bases else None
        reads_of_log: Iterable[tuple[UUID, int]] = command.reads.items()
        if own_bases:
            rests[0].extend([number] * len(own_bases))
            rests[1].extend(own_bases.values())
            reads_of_log = [read for read in reads_of_log if read[0] not in own_bases]
        for read in reads_of_log:
            readers[0].append(number)
            readers[1].append(reads.setdefault(read, len(reads) + 1))
        for event in command.events:
            events[0].append(number)
            events[1].append(event.originator_id)
            events[2].append(event.originator_version)
            events[3].append(event.topic)
            events[4].append(event.state)
        if command.receipt:
            receipts[0].append(number)
            receipts[1].append(command.receipt.key)
            receipts[2].append(command.receipt.request)
            receipts[3].append(command.receipt.answer)
        for value in command.sealed:
            sealed[0].append(number)
            sealed[1].append(value.sealed_id)
            sealed[2].append(value.owner_id)
            sealed[3].append(value.sealed)
    return [
        epoch,
        uuids([aggregate_id for aggregate_id, _ in reads]),
        bigints([version for _, version in reads]),
        *map(ints, readers),
        ints(events[0]),
        uuids(events[1]),
        bigints(events[2]),
        texts(events[3]),
        byteas(events[4]),
        uuids([command.command_id for command in batch]),
        texts([command.metadata for command in batch]),
        ints(receipts[0]),
        *map(byteas, receipts[1:]),
        ints(sealed[0]),
        uuids(sealed[1]),
        uuids(sealed[2]),
        byteas(sealed[3]),
        # Nearly no batch has them.
        *(map(ints, rests) if bases else (None, None)),
    ]


def outcomes(epoch: UUID, batch: Sequence[Append], row: TupleRow) -> BatchResult:
    """Return one outcome for each command, in order, from the function's result."""
    log_epoch, base, recorded_at = row[:3]
    conflicted, replayed, requests, answers, positions, lock_wait_s = row[3:]
    if log_epoch != epoch:
        refusals = [VersionConflictError() for _ in batch]
        return BatchResult(log_epoch, base, base, refusals)
    conflicts = set(conflicted or ())
    replays = {
        number: Receipt(
            key=b"", request=requests[index], answer=answers[index], position=position
        )
        for index, (number, position) in enumerate(
            zip(replayed or (), positions or (), strict=True)
        )
    }
    position = base
    found: list[Outcome] = []
    for number, command in enumerate(batch, start=1):
        if number in conflicts:
            found.append(VersionConflictError())
        elif number in replays:
            found.append(AlreadyAnsweredError(replays[number]))
        else:
            position += len(command.events)
            found.append(
                Appended(
                    position=position if command.events else None,
                    recorded_at=recorded_at + (number - 1) * MICROSECOND,
                )
            )
    return BatchResult(log_epoch, base, position, found, lock_wait_s)


def last_command(batch: Sequence[Append], result: BatchResult) -> UUID | None:
    """Return the command of the last event of a batch; None for a batch without."""
    for append, outcome in zip(reversed(batch), reversed(result.outcomes), strict=True):
        if isinstance(outcome, Appended) and outcome.position is not None:
            return append.command_id
    return None
