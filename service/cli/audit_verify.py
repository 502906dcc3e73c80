"""``agent-runtime audit verify``: an export against signed checkpoints, offline."""

import argparse
import shutil
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Final

from agent_runtime_client.proofs.checkpoint import Checkpoint
from agent_runtime_client.proofs.entry import UnreadableEntryError
from agent_runtime_client.proofs.epoch_changes import (
    EpochChangeEntry,
    epoch_changes_in,
)
from agent_runtime_client.proofs.export_check import (
    ConflictingCheckpointsError,
    ExportCheck,
    check_export,
)
from agent_runtime_client.proofs.note import (
    NoteError,
    UnknownSignerError,
    VerifierKey,
    notes_in,
)
from projections.audit.proofs.checkpoint_files import checkpoints_in
from service.cli.running import print_error
from service.cli.settings import add_settings
from service.config import Config

EXIT_TAMPERED: Final = 1
EXIT_UNUSABLE: Final = 2
NOT_COVERED: Final = (
    "not covered: the names actor and resource.name, and the sentences what"
)


@dataclass(frozen=True, slots=True)
class _Epoch:
    """Checkpoints of one epoch, and what an export is worth by them."""

    origin: str
    checkpoints: Sequence[Checkpoint]
    check: ExportCheck

    @property
    def disagrees(self) -> bool:
        """Whether a checkpoint doesn't confirm the export.

        Not if the export is unsound only after the last one.
        """
        return any(each.size > self.check.proven for each in self.checkpoints)

    def explained_by(
        self, changes: Iterable[EpochChangeEntry]
    ) -> EpochChangeEntry | None:
        for each in changes:
            if each.origin == self.origin and each.explains(
                self.checkpoints, self.check.proven
            ):
                return each
        return None

    def disagrees_without(self, changes: Iterable[EpochChangeEntry]) -> bool:
        """Whether it disagrees, and none of the changes explains it."""
        return self.disagrees and self.explained_by(changes) is None


def add_verify_to(subparsers: "argparse._SubParsersAction[Any]") -> None:
    verify = subparsers.add_parser(
        "verify",
        help="verify an export against signed checkpoints, offline",
        description="Verify an export against signed checkpoints. Needs neither the "
        "service nor its database. Exits with 0 if the export is verified, with 1 if "
        "it was tampered with, and names the first position; with 2 if it can't be "
        "checked, or was cut off.",
    )
    verify.add_argument("export", help="JSON Lines of the whole event log, - for stdin")
    verify.add_argument(
        "--public-key",
        metavar="KEY|FILE",
        action="append",
        required=True,
        help="public key, or a file that contains it; repeatable",
    )
    verify.add_argument(
        "--checkpoint",
        metavar="FILE",
        action="append",
        required=True,
        help="file of one or more checkpoints, or a folder of such files; repeatable",
    )
    verify.add_argument(
        "--earlier",
        metavar="EXPORT",
        help="an earlier export; identifies the changed event even if the Merkle tree "
        "was rewritten too",
    )
    add_settings(verify)
    verify.set_defaults(run=verify_command)


def verify_command(_config: Config, options: argparse.Namespace) -> int:
    try:
        keys = [_key(given) for given in options.public_key]
        groups = _grouped(_checkpoint_files(options.checkpoint), keys)
        with _reopenable(options.export) as export:
            epochs = {
                origin: _Epoch(
                    origin, checkpoints, _check(export, options.earlier, checkpoints)
                )
                for origin, checkpoints in groups.signed.items()
            }
            given = [
                epochs[each]
                for each in sorted({key.name for key in keys})
                if each in epochs
            ]
            # Keys of several epochs may be given; the export is of one of them.
            chosen = max(
                given, key=lambda each: (each.check.problem is None, each.check.proven)
            )
            with export.open("rb") as exported:
                changes = epoch_changes_in(exported, upto=chosen.check.proven)
    except ConflictingCheckpointsError as error:
        print(f"VERIFICATION FAILED: contradictory checkpoints: {error}")
        return EXIT_TAMPERED
    except (NoteError, OSError, UnreadableEntryError) as error:
        print_error(error)
        return EXIT_UNUSABLE
    if chosen.check.problem is None:
        # The others may disagree, but only where one of its entries says so.
        failed = (each for each in given if each.disagrees_without(changes))
        chosen = next(failed, chosen)
    status = _report(chosen.check)
    others = [each for each in epochs.values() if each is not chosen]
    _report_others(chosen, others, groups.unknown, changes)
    return status


def _check(
    export: Path, earlier: str | None, checkpoints: Sequence[Checkpoint]
) -> ExportCheck:
    with export.open("rb") as exported, _lines(earlier) as before:
        return check_export(exported, checkpoints, earlier=before)


def _report(check: ExportCheck) -> int:
    was_cut = check.problem is not None and check.problem.kind == "cut"
    if check.problem is not None:
        print(f"{'NOT WHOLE' if was_cut else 'VERIFICATION FAILED'}: {check.problem}")
    print(f"{check.verified} entries verified")
    if check.problem is not None:
        return EXIT_UNUSABLE if was_cut else EXIT_TAMPERED
    if check.entries > check.proven:
        later = check.entries - check.proven
        print(f"{later} later entries are not covered by any checkpoint")
    print(NOT_COVERED)
    return 0


def _report_others(
    chosen: _Epoch,
    others: Iterable[_Epoch],
    unknown: Mapping[str, int],
    changes: Sequence[EpochChangeEntry],
) -> None:
    """Say what the checkpoints of other epochs, and of other logs, are worth."""
    for each in others:
        said = f"they agree with the first {each.check.proven} entries"
        if not each.disagrees:
            said += ", too"
        elif chosen.check.problem is None or not each.disagrees_without(changes):
            said += f" only: {_explained(each, changes)}"
        elif each.check.problem is not None:
            said += f" only: {each.check.problem}"
        print(f"checkpoints of {each.origin}, not of {chosen.origin}: {said}")
    for origin, count in unknown.items():
        print(f"checkpoints of {origin}: {count} ignored, signed with none of the keys")


def _explained(epoch: _Epoch, changes: Sequence[EpochChangeEntry]) -> str:
    """Say why an earlier epoch's checkpoints disagree: by an entry, if there is one."""
    change = epoch.explained_by(changes)
    if change is not None:
        return f"{change.words}, as entry {change.entry} says"
    of_origin = [each for each in changes if each.origin == epoch.origin]
    if of_origin:
        said = ", ".join(f"entry {each.entry}: {each.words}" for each in of_origin)
        return f"the log was rewritten; no change of the epoch explains it ({said})"
    return (
        "after those, the log was restored or rewritten under a new epoch, which no"
        " verified entry records"
    )


def _key(given: str) -> VerifierKey:
    path = Path(given)
    return VerifierKey.parse(path.read_text("utf-8") if path.is_file() else given)


def _checkpoint_files(given: Iterable[str]) -> list[Path]:
    files = [*_files(given)]
    if not files:
        raise NoteError("there is no checkpoint to verify with")
    return files


def _files(given: Iterable[str]) -> Iterator[Path]:
    for each in map(Path, given):
        if each.is_dir():
            yield from checkpoints_in(each)
        else:
            yield each


@dataclass(frozen=True, slots=True)
class _Groups:
    """Checkpoints by origin; how many of an origin no given key has signed."""

    signed: Mapping[str, list[Checkpoint]]
    unknown: Mapping[str, int]


def _grouped(paths: Iterable[Path], keys: Collection[VerifierKey]) -> _Groups:
    """Read the checkpoints, also those that the same keys signed in other epochs.

    :raises NoteError: a file is malformed, or there is none of a given key's origin
    """
    signed: dict[str, list[Checkpoint]] = {}
    unknown: Counter[str] = Counter()
    for path in paths:
        try:
            for note in _notes(path):
                origin = Checkpoint.parse(note).origin
                # The name of a key has the epoch; the key itself stays.
                known = [*keys, *(VerifierKey(origin, key.public) for key in keys)]
                try:
                    checkpoint = Checkpoint.open(note, known)
                except UnknownSignerError:
                    unknown[origin] += 1
                else:
                    signed.setdefault(origin, []).append(checkpoint)
        except (NoteError, UnicodeDecodeError) as error:
            raise NoteError(f"{path}: {error}") from None
    if not signed and unknown:
        raise NoteError("no known key has signed any of the checkpoints")
    if not signed.keys() & {key.name for key in keys}:
        raise NoteError(
            f"there is no checkpoint of {', '.join(key.name for key in keys)}, only of"
            f" {', '.join([*signed, *unknown])}"
        )
    return _Groups(signed, unknown)


def _notes(path: Path) -> list[str]:
    """Read the notes in a file: one, or many as a Kafka consumer prints them."""
    return notes_in(path.read_text("utf-8")) or [""]


def _file(export: str) -> Path:
    path = Path(export)
    if path.is_dir():
        raise NoteError(f"{path} is a folder; give the file of an export")
    return path


@contextmanager
def _reopenable(export: str) -> Iterator[Path]:
    """Lend the path of an export; standard input is copied to a file first."""
    if export != "-":
        yield _file(export)
        return
    with NamedTemporaryFile() as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.flush()
        yield Path(copy.name)


@contextmanager
def _lines(path: str | None) -> Iterator[Iterable[bytes]]:
    if path is None:
        yield ()
    else:
        with _file(path).open("rb") as file:
            yield file
