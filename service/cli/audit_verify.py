"""``agent-runtime audit verify``: an export against signed checkpoints, offline."""

import argparse
import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from projections.audit.entry_json import UnreadableEntryError
from projections.audit.proofs.checkpoint import Checkpoint
from projections.audit.proofs.checkpoint_files import checkpoints_in
from projections.audit.proofs.note import NoteError, VerifierKey, notes_in
from projections.audit.proofs.verify import Contradiction, Verdict, verify_export
from service.cli.running import print_error
from service.cli.settings import add_settings
from service.config import Config

EXIT_TAMPERED: Final = 1
EXIT_UNUSABLE: Final = 2


def add_verify_to(subparsers: "argparse._SubParsersAction[Any]") -> None:
    verify = subparsers.add_parser(
        "verify",
        help="verify an export against signed checkpoints, offline",
        description="Verify an export against signed checkpoints. Needs neither the "
        "service nor its database. Exits with 0 if the export is verified, with 1 if "
        "it was tampered with, and names the first position; with 2 if it can't be "
        "checked.",
    )
    verify.add_argument("export", help="JSON Lines of the whole event log, - for stdin")
    verify.add_argument(
        "--public-key",
        action="append",
        required=True,
        help="public key, or a file that contains it; repeatable",
    )
    verify.add_argument(
        "--checkpoint",
        action="append",
        required=True,
        help="file of one or more checkpoints, or a folder of such files; repeatable",
    )
    verify.add_argument(
        "--earlier",
        help="an earlier export; identifies the changed event even if the Merkle tree "
        "was rewritten too",
    )
    add_settings(verify)
    verify.set_defaults(run=verify_command)


def verify_command(_config: Config, options: argparse.Namespace) -> int:
    try:
        keys = [_key(given) for given in options.public_key]
        checkpoints = [
            checkpoint
            for path in _checkpoint_files(options.checkpoint)
            for checkpoint in _checkpoints(path, keys)
        ]
        with _lines(options.export) as exported, _lines(options.earlier) as earlier:
            verdict = verify_export(exported, checkpoints, earlier=earlier)
    except Contradiction as error:
        print(f"VERIFICATION FAILED: contradictory checkpoints: {error}")
        return EXIT_TAMPERED
    except (NoteError, OSError, UnreadableEntryError) as error:
        print_error(error)
        return EXIT_UNUSABLE
    return _report(verdict)


def _report(verdict: Verdict) -> int:
    if verdict.finding is not None:
        print(f"VERIFICATION FAILED: {verdict.finding.words}")
    print(f"{verdict.proven} entries verified")
    if verdict.finding is not None:
        return EXIT_TAMPERED
    if verdict.entries > verdict.proven:
        later = verdict.entries - verdict.proven
        print(f"{later} later entries are not covered by any checkpoint")
    return 0


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


def _checkpoints(path: Path, keys: Collection[VerifierKey]) -> list[Checkpoint]:
    """Read the checkpoints in a file: one, or many as a Kafka consumer prints them."""
    try:
        notes = notes_in(path.read_text("utf-8"))
        return [Checkpoint.open(note, keys) for note in notes or [""]]
    except (NoteError, UnicodeDecodeError) as error:
        raise NoteError(f"{path}: {error}") from None


@contextmanager
def _lines(path: str | None) -> Iterator[Iterable[bytes]]:
    if path is None:
        yield ()
    elif path == "-":
        yield sys.stdin.buffer
    else:
        with Path(path).open("rb") as file:
            yield file
