"""Checks an export of the whole log against checkpoints, offline."""

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from agent_runtime_client.proofs.authorship import contradicted_member
from agent_runtime_client.proofs.checkpoint import Checkpoint
from agent_runtime_client.proofs.entry import leaf_of
from agent_runtime_client.proofs.merkle import GrowingTree


class ExportCheck(NamedTuple):
    """The result of a check.

    ``entries`` were read, those up to ``proven`` are as they were signed. ``problem``
    is None, or says what is wrong; then the first wrong entry is at ``position``, or
    between it and ``until_position``.
    """

    entries: int
    proven: int
    problem: str | None = None
    position: int | None = None
    until_position: int | None = None


def check_export(
    lines: Iterable[bytes], checkpoints: Iterable[Checkpoint]
) -> ExportCheck:
    """Check the lines of an export without filters, such as an open file.

    ``checkpoints`` have been opened, so that their signatures are valid.
    """
    roots: dict[int, bytes] = {}
    for each in checkpoints:
        if roots.setdefault(each.size, each.root) != each.root:
            words = f"two checkpoints of size {each.size} contradict each other"
            return ExportCheck(0, 0, words)
    check = _Check(roots)
    for line in lines:
        if found := check.take(line):
            return found
    return check.end()


class _Check:
    def __init__(self, roots: Mapping[int, bytes]) -> None:
        self._roots = roots
        self._tree = GrowingTree()
        self._proven = 0
        # The first entry that differs from its leaf, unless a checkpoint confirms it.
        self._suspect: int | None = None
        # The first entry that is described as another than it is, and by what.
        self._mislabelled: tuple[int, str] | None = None

    def take(self, line: bytes) -> ExportCheck | None:
        """Take the next line; return what is wrong if no later one can change that."""
        position = self._tree.size + 1
        try:
            entry = json.loads(line, object_pairs_hook=_object)
            leaf = leaf_of(entry)
            contradicted = contradicted_member(entry, entry)
        except (ValueError, TypeError, RecursionError):
            words = "is not an entry, or has a key twice"
            return self._wrong(self._suspect or position, words)
        if entry["position"] != position:
            return self._wrong(self._suspect or position, "is missing or moved")
        self._tree.append(leaf)
        if contradicted and self._mislabelled is None:
            self._mislabelled = position, contradicted
        stored = entry.get("leaf_hash")
        is_stored = stored in (None, base64.b64encode(leaf).decode())
        if self._suspect is None and not is_stored:
            self._suspect = position
        signed = self._roots.get(position)
        if signed is None:
            return None
        if signed != self._tree.root():
            first = self._suspect or self._proven + 1
            return self._wrong(first, "is not as it was signed", position)
        self._proven, self._suspect = position, None
        return None

    def end(self) -> ExportCheck:
        """Return the result behind the last line."""
        if self._suspect is not None:
            return self._wrong(self._suspect, "is not as it was recorded")
        signed, size = max(self._roots, default=0), self._tree.size
        if signed > size:
            return self._wrong(size + 1, "is missing", signed)
        if self._mislabelled is not None:
            position, name = self._mislabelled
            return self._wrong(position, f"is not the one that its {name} says")
        return ExportCheck(size, self._proven)

    def _wrong(
        self, position: int, words: str, until: int | None = None
    ) -> ExportCheck:
        until = None if until == position else until
        entries = f"the entry at position {position}"
        if until is not None:
            entries = f"an entry at positions {position} to {until}"
        problem = f"{entries} {words}"
        return ExportCheck(self._tree.size, self._proven, problem, position, until)


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object with a key twice: programs differ in which one they read."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key twice")
    return members
