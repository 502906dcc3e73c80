"""Explain by an export why an earlier epoch's checkpoints disagree with it."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from projections.audit.entry_json import entry_of
from projections.audit.proofs.checkpoint import Checkpoint, origin_of

TOPIC: Final = "log.epoch_changed"
REASONS: Final = {"restore": "a restore", "fail_over": "a fail-over"}


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
    """Return the entries about changes of the epoch, up to a verified position."""
    found: list[EpochChangeEntry] = []
    for raw in export:
        if TOPIC.encode() not in raw:
            continue
        entry = entry_of(json.loads(raw))
        if entry.topic != TOPIC or entry.position > upto:
            continue
        state = json.loads(entry.state)
        found.append(
            EpochChangeEntry(
                entry=entry.position,
                origin=origin_of(UUID(state["old_epoch"])),
                reason=state["reason"],
                shared=state["position"],
                signed_size=state["signed_size"],
                signed_root=state["signed_root"],
            )
        )
    shared = upto
    for index, each in reversed([*enumerate(found)]):
        shared = min(shared, each.shared)
        found[index] = replace(each, shared=shared)
    return found
