"""Heads of the tree as text, as specified by C2SP (c2sp.org/tlog-checkpoint)."""

import base64
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self
from uuid import UUID

from agent_runtime_client.proofs.note import NoteError, VerifierKey, notes_in, open_note

ROOT_BYTES: Final = 32


def origin_of(epoch: UUID) -> str:
    """Return the name of a log's tree, and of the key under which it is signed.

    A log that was restored goes on from an earlier entry with other ones: it has a
    new epoch, and is another tree.
    """
    return f"agent-runtime/{epoch}"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The size and root of the log's tree at one time; ``origin`` names the log."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        return f"{self.origin}\n{self.size}\n{self.encoded_root}\n"

    @property
    def encoded_root(self) -> str:
        return base64.b64encode(self.root).decode()

    @classmethod
    def load(cls, path: str | Path, *, public_key: str) -> Self:
        """Read the newest checkpoint in a file of one or more, and check its signature.

        ``public_key`` is ``name+id+key``, as the service and its operator show it.
        Needs the extra ``audit``.

        :raises NoteError: there is none, or the key hasn't signed it
        """
        key = VerifierKey.parse(public_key)
        notes = notes_in(Path(path).read_text("utf-8"))
        if not notes:
            raise NoteError(f"{path} has no checkpoint")
        found = [cls.open(note, [key]) for note in notes]
        return max(found, key=lambda each: each.size)

    @classmethod
    def open(cls, note: str, keys: Iterable[VerifierKey]) -> Self:
        """Read a checkpoint that one of the keys has signed.

        Needs the extra ``audit``.

        :raises NoteError: none has, or it isn't a checkpoint
        """
        text, signer = open_note(note, keys)
        checkpoint = cls._of(text)
        if signer.name != checkpoint.origin:
            raise NoteError("the checkpoint is of another log than its key")
        return checkpoint

    @classmethod
    def parse(cls, note: str) -> Self:
        """Read a checkpoint without checking who has signed it.

        :raises NoteError: it isn't one
        """
        text, blank, _ = note.rpartition("\n\n")
        return cls._of(text + blank[:1])

    @classmethod
    def _of(cls, text: str) -> Self:
        match = _CHECKPOINT.fullmatch(text)
        if match is None:
            raise NoteError("the note is not a checkpoint")
        try:
            root = base64.b64decode(match["root"], validate=True)
        except ValueError:  # not only binascii.Error: also for what isn't ASCII
            root = b""
        if len(root) != ROOT_BYTES:
            raise NoteError("the checkpoint's root is not a hash")
        return cls(match["origin"], int(match["size"]), root)


_CHECKPOINT: Final = re.compile(
    r"(?P<origin>[^\n]+)\n(?P<size>0|[1-9][0-9]{0,18})\n(?P<root>[^\n]+)\n(?:[^\n]+\n)*"
)
