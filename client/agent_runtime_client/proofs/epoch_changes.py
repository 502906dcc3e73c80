"""Explain by an export why an earlier epoch's checkpoints disagree with it."""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final
from uuid import UUID

from agent_runtime_client.proofs.checkpoint import Checkpoint, origin_of
from agent_runtime_client.proofs.entry import Entry, entry_of

TOPIC: Final = "log.epoch_changed"
REASONS: Final = {"restore": "a restore", "fail_over": "a fail-over"}


class NoEpochChangeError(Exception):
    """The entry's state isn't that of a change of the epoch."""


@dataclass(frozen=True, slots=True)
class EpochChangeEntry:
    """An entry about the end of an epoch, and after which position others differ.

    ``shared`` is less than the change's own position where a later change went back
    further.
    """

    entry: int
    origin: str
    reason: str
    shared: int
    signed_size: int | None
    signed_root: str | None

    def explains(self, checkpoints: Sequence[Checkpoint], agreed: int) -> bool:
        """Say whether checkpoints of the old epoch disagree only where they may.

        ``agreed`` is the last position up to which they agree with the export.
        """
        return all(
            each.size > self.shared
            and (each.size != self.signed_size or each.encoded_root == self.signed_root)
            for each in checkpoints
            if each.size > agreed
        )

    @property
    def words(self) -> str:
        why = REASONS.get(self.reason, self.reason)
        return f"{why} changed the epoch after position {self.shared}"


def epoch_changes_in(export: Iterable[bytes], *, upto: int) -> list[EpochChangeEntry]:
    """Return the entries about changes of the epoch, up to a verified position.

    What follows that position may be anything, and is not read.
    """
    found: list[EpochChangeEntry] = []
    for raw in islice(export, upto):
        if TOPIC.encode() not in raw:
            continue
        entry = entry_of(json.loads(raw))
        if entry.topic != TOPIC:
            continue
        # Signed, but perhaps not written by the service: then it explains nothing.
        with suppress(NoEpochChangeError):
            found.append(_change(entry))
    shared = upto
    for index, each in reversed([*enumerate(found)]):
        shared = min(shared, each.shared)
        found[index] = replace(each, shared=shared)
    return found


def _change(entry: Entry) -> EpochChangeEntry:
    """Read an entry.

    :raises NoEpochChangeError: it isn't as the service writes it
    """
    try:
        state = json.loads(entry.state)
        return EpochChangeEntry(
            entry=entry.position,
            origin=origin_of(UUID(state["old_epoch"])),
            reason=str(state["reason"]),
            shared=int(state["position"]),
            signed_size=state["signed_size"],
            signed_root=state["signed_root"],
        )
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise NoEpochChangeError from error
