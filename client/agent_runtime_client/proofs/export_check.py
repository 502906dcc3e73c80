"""Check an export of the whole log against checkpoints, offline.

Memory stays flat: the export is read line by line, once. Beside each entry stands
the leaf that the service's tree has for it (``leaf_hash``). These say which entry
differs, as long as a checkpoint confirms them; an earlier export stands in for them,
where the tree was rewritten too.
"""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from agent_runtime_client.proofs.authorship import contradicted_member
from agent_runtime_client.proofs.checkpoint import Checkpoint
from agent_runtime_client.proofs.entry import Entry, UnreadableEntryError, entry_of
from agent_runtime_client.proofs.export_end import end_of
from agent_runtime_client.proofs.merkle import GrowingTree

Kind = Literal[
    "changed",
    "removed",
    "inserted",
    "reordered",
    "unreadable",
    "rewritten",
    "mislabelled",
    "cut",
]


@dataclass(frozen=True, slots=True)
class Problem:
    """The first entry or checkpoint that does not verify; as a string, in words.

    ``position`` is where; ``until_position`` is set when all that can be said is that
    it lies between both.
    """

    kind: Kind
    position: int
    words: str
    until_position: int | None = None

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True, slots=True)
class ExportCheck:
    """The result of checking an export.

    ``proven`` is the last position of a checkpoint that confirms all before it,
    ``verified`` the last one before a problem that is confirmed, perhaps by its leaf
    alone; ``entries`` is the last one in the export. ``problem`` is None if nothing
    was found.
    """

    entries: int
    proven: int
    verified: int
    problem: Problem | None


@dataclass(frozen=True, slots=True)
class _Line:
    entry: Entry
    leaf: bytes
    stored: bytes | None
    # A member beside the entry that isn't what the entry says.
    contradicted: str | None


class ConflictingCheckpointsError(Exception):
    """Two checkpoints of one size have different roots."""


def check_export(
    lines: Iterable[bytes],
    checkpoints: Iterable[Checkpoint],
    *,
    earlier: Iterable[bytes] = (),
) -> ExportCheck:
    """Check the lines of an export without filters, such as an open file.

    Stops at the first problem. ``checkpoints`` have been opened, so their signatures
    are valid; ``earlier`` are the lines of an export of an earlier time.

    :raises ConflictingCheckpointsError: the log was signed in two versions
    :raises UnreadableEntryError: a line of ``earlier`` is no entry
    """
    return _Check(checkpoints, earlier).run(lines)


class _Check:
    def __init__(
        self, checkpoints: Iterable[Checkpoint], earlier: Iterable[bytes]
    ) -> None:
        self._roots = _by_size(checkpoints)
        self._due = sorted(size for size in self._roots if size)
        self._earlier = _leaves(earlier)
        self._tree = GrowingTree()
        # Grows by leaves that are claimed to have been there: stored or earlier ones.
        self._witness: GrowingTree | None = GrowingTree()
        self._before: _Line | None = None
        self._suspect: Problem | None = None
        self._mislabelled: Problem | None = None
        self._proven = 0
        self._verified = 0
        self._until: int | None = None

    def run(self, lines: Iterable[bytes]) -> ExportCheck:
        problem = self._read(lines)
        verified = max(self._proven, self._verified)
        return ExportCheck(self._tree.size, self._proven, verified, problem)

    def _read(self, lines: Iterable[bytes]) -> Problem | None:
        for raw in lines:
            expected = self._tree.size + 1
            try:
                members = _members(raw)
                if self._until is None:
                    self._until = end_of(members)
                    if self._until is not None:
                        continue
                line = _line_of(members)
            except UnreadableEntryError:
                if not raw.endswith(b"\n"):
                    return self._suspect or self._cut()
                return self._suspect or Problem(
                    "unreadable",
                    expected,
                    f"the line of position {expected} is no entry, or has a key twice",
                )
            if self._until is not None:
                return self._suspect or self._cut()
            if line.entry.position != expected:
                return self._suspect or _misplaced(line.entry.position, expected)
            self._add(line)
            if self._due and self._tree.size == self._due[0]:
                problem = self._compare(self._due.pop(0))
                if problem:
                    return problem
        is_whole = self._until == self._tree.size
        problem = self._suspect or (None if is_whole else self._cut())
        return problem or self._shortened() or self._mislabelled

    def _add(self, line: _Line) -> None:
        self._tree.append(line.leaf)
        if line.contradicted and self._mislabelled is None:
            position = line.entry.position
            self._mislabelled = Problem(
                "mislabelled",
                position,
                f"{line.contradicted} of the entry at position {position} is not what"
                " its signed columns say",
            )
        said = next(self._earlier, None) or line.stored
        if said is None:
            self._witness = None
        elif self._witness is not None:
            self._witness.append(said)
        if self._suspect is None and said is not None and said != line.leaf:
            position = line.entry.position
            self._suspect = Problem(
                "changed",
                position,
                f"the entry at position {position} is not the one recorded there",
            )
            self._before = replace(line, stored=said)
        elif self._before is not None and self._suspect is not None:
            self._suspect = _classified(self._before, replace(line, stored=said))
            self._before = None

    def _compare(self, size: int) -> Problem | None:
        """Compare the tree, which has this size now, with its checkpoint."""
        if self._tree.root() == self._roots[size]:
            # Confirmed: whatever the stored leaves say, it is as it was signed.
            self._proven = size
            self._suspect = self._before = None
            self._witness = self._tree.copy()
            return None
        if self._witness is not None and self._witness.root() == self._roots[size]:
            if self._suspect is not None:
                # The entries before it have the leaves that are confirmed.
                self._verified = self._suspect.position - 1
            return self._suspect
        first = self._proven + 1
        return Problem(
            "rewritten",
            first,
            f"an entry at positions {first} to {size} was changed, and the "
            "tree was rewritten with it; compare an earlier export",
            until_position=size,
        )

    def _shortened(self) -> Problem | None:
        missing = [size for size in self._roots if size > self._tree.size]
        if not missing:
            return None
        end, first = self._tree.size, self._proven + 1
        words = f"the log ends at position {end}, but was signed up to {max(missing)}"
        if end == self._proven:
            return Problem("removed", first, words)
        # Closing the gap and rewriting the tree would look like this, too.
        words += f": the missing entries were at the end, or from position {first} on"
        return Problem("removed", first, words, until_position=end + 1)

    def _cut(self) -> Problem:
        """Say that the export isn't as it was sent, whatever the log is."""
        end = self._tree.size
        words = (
            f"the export was cut off behind position {end}: it has no end; export it "
            "again"
        )
        if self._until is not None:
            words = (
                f"the export ends at position {end}, and says that it ends at "
                f"{self._until}: it was joined or shortened, or the log lacks entries; "
                "export it again, and if that says the same, run agent-runtime doctor"
            )
        return Problem("cut", end + 1, words)


def _classified(line: _Line, following: _Line) -> Problem:
    """Classify the first entry that differs, by the entry after it."""
    position = line.entry.position
    moved_up = replace(line.entry, position=position + 1).leaf == following.stored
    moved_down = replace(following.entry, position=position).leaf == line.stored
    if moved_up and moved_down:
        words = f"the entries at positions {position} and {position + 1} are exchanged"
        return Problem("reordered", position, words)
    if moved_up:
        words = f"the entry that was recorded at position {position} was removed"
        # What follows it has moved down: the entry here was recorded one later.
        return Problem("removed", position, words)
    if moved_down:
        words = f"the entry at position {position} was inserted"
        return Problem("inserted", position, words)
    return Problem(
        "changed",
        position,
        f"the entry at position {position} is not the one recorded there",
    )


def _misplaced(position: int, expected: int) -> Problem:
    if position > expected:
        return Problem(
            "removed", expected, f"the entry of position {expected} is missing"
        )
    return Problem(
        "reordered",
        expected,
        f"the entry of position {expected} says that its position is {position}",
    )


def _by_size(checkpoints: Iterable[Checkpoint]) -> Mapping[int, bytes]:
    roots: dict[int, bytes] = {}
    for each in checkpoints:
        if roots.setdefault(each.size, each.root) != each.root:
            raise ConflictingCheckpointsError(
                f"two checkpoints of size {each.size} differ"
            )
    return roots


def _line_of(members: Mapping[str, Any]) -> _Line:
    entry = entry_of(members)
    stored = members.get("leaf_hash")
    try:
        return _Line(
            entry,
            entry.leaf,
            base64.b64decode(stored) if stored else None,
            contradicted_member(members, entry),
        )
    except (TypeError, ValueError) as error:
        raise UnreadableEntryError("not an entry of the log") from error


def _members(raw: bytes) -> dict[str, Any]:
    try:
        members = json.loads(raw, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise UnreadableEntryError("not JSON, or a key twice") from error
    if not isinstance(members, dict):
        raise UnreadableEntryError("not an object")
    return members


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object with a key twice: programs differ in which one they read."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key twice")
    return members


def _leaves(export: Iterable[bytes]) -> Iterator[bytes]:
    for raw in export:
        members = _members(raw)
        if end_of(members) is None:
            yield _line_of(members).leaf
