"""Heads of the tree as text, as specified by C2SP (c2sp.org/tlog-checkpoint)."""

import base64
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from projections.audit.proofs.note import NoteError, VerifierKey, open_note, sign_note

ROOT_BYTES = 32


def origin_of(epoch: UUID) -> str:
    """Return the name of a log's tree, and of the key under which it is signed.

    A log that was restored goes on from an earlier entry with other ones: it has a
    new epoch, and is another tree.
    """
    return f"agent-runtime/{epoch}"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        return f"{self.origin}\n{self.size}\n{self.encoded_root}\n"

    @property
    def encoded_root(self) -> str:
        return base64.b64encode(self.root).decode()

    def signed(self, private: Ed25519PrivateKey) -> str:
        return sign_note(self.text, self.origin, private)

    @classmethod
    def open(cls, note: str, keys: Iterable[VerifierKey]) -> Self:
        """Read a checkpoint that one of the keys has signed.

        :raises NoteError: none has, or it isn't a checkpoint
        """
        text, signer = open_note(note, keys)
        checkpoint = cls._of(text)
        if signer.name != checkpoint.origin:
            raise NoteError("the checkpoint is of another log than its key")
        return checkpoint

    @classmethod
    def parse(cls, note: str) -> Self:
        """Parse a note's text without verifying its signature.

        :raises NoteError: it isn't a checkpoint
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


_CHECKPOINT = re.compile(
    r"(?P<origin>[^\n]+)\n(?P<size>0|[1-9][0-9]{0,18})\n(?P<root>[^\n]+)\n(?:[^\n]+\n)*"
)
