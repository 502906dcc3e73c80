"""The request to append one command, and its results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from eventsourcing.persistence import StoredEvent

from service.aggregate import LoggedAggregate
from service.errors import UnavailableError
from service.event_log.history import History


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The answer kept for an Idempotency-Key.

    ``key`` identifies caller, operation and key; ``request`` is a keyed hash of
    what was asked; ``answer`` is replayed as it is.
    """

    key: bytes
    request: bytes
    answer: bytes
    position: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedValue:
    """Ciphertext that an event refers to by its id; stored beside the log."""

    sealed_id: UUID
    owner_id: UUID
    sealed: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Append:
    """One command's events, with the version of every aggregate that it read.

    Version 0 means that the aggregate did not exist. ``aggregates`` are the written
    ones, with the events applied. ``history`` is the log's when the command began to
    read: versions of another history don't compare.
    """

    command_id: UUID
    history: History
    metadata: str
    reads: Mapping[UUID, int]
    events: Sequence[StoredEvent]
    aggregates: Sequence[LoggedAggregate] = ()
    receipt: Receipt | None = None
    sealed: Sequence[SealedValue] = ()

    @property
    def size(self) -> int:
        """The bytes of events, answer and sealed values; everything else is bounded."""
        size = len(self.receipt.answer) if self.receipt else 0
        for event in self.events:
            size += len(event.state)
        for value in self.sealed:
            size += len(value.sealed)
        return size


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """The position of a command's last event; None when it had no events."""

    position: int | None
    recorded_at: datetime


class VersionConflictError(Exception):
    """An aggregate that the command read has moved; nothing was appended."""


class AlreadyAnsweredError(Exception):
    """The idempotency key has been used; nothing was appended."""

    def __init__(self, receipt: Receipt) -> None:
        super().__init__("idempotency key already used")
        self.receipt = receipt


class OutcomeUnknownError(UnavailableError):
    """The connection was lost at the commit and the outcome can't be looked up.

    The command may have been applied.
    """

    code = "outcome_unknown"


class OverloadedError(UnavailableError):
    """The queue of commands is full or too slow; nothing was appended."""

    code = "overloaded"
