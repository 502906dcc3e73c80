"""Signed notes with Ed25519, as specified by C2SP (c2sp.org/signed-note)."""

import base64
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

ED25519: Final = b"\x01"
PUBLIC_KEY_BYTES: Final = 32
KEY_ID_BYTES: Final = 4
SIGNED: Final = "— "
SIGNATURES_MAX: Final = 100


class NoteError(ValueError):
    """The text is not a signed note, or no known key has signed it."""


class UnknownSignerError(NoteError):
    """No known key has signed the note."""


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A public key and the name under which it signs."""

    name: str
    public: bytes

    @property
    def key_id(self) -> bytes:
        named = self.name.encode() + b"\n" + ED25519 + self.public
        return hashlib.sha256(named).digest()[:KEY_ID_BYTES]

    def __str__(self) -> str:
        """Write the key as ``name+id+key``, the verifier key of the specification."""
        encoded = base64.b64encode(ED25519 + self.public).decode()
        return f"{self.name}+{self.key_id.hex()}+{encoded}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what ``str`` writes.

        :raises NoteError: it isn't that, or its parts don't belong together
        """
        match = _VERIFIER_KEY.fullmatch(text.strip())
        if match is None:
            raise NoteError("a public key is written as name+id+key")
        encoded = _decoded(match["key"])
        if len(encoded) != 1 + PUBLIC_KEY_BYTES or encoded[:1] != ED25519:
            raise NoteError("the public key is not one of Ed25519")
        key = cls(match["name"], encoded[1:])
        if key.key_id.hex() != match["id"]:
            raise NoteError("the public key's id is that of another key")
        return key

    def verify(self, text: str, signature: bytes) -> bool:
        """Say whether the key has signed a text; needs the extra ``audit``.

        :raises NoteError: the extra isn't installed
        """
        try:
            from cryptography.exceptions import InvalidSignature
            from cryptography.hazmat.primitives.asymmetric.ed25519 import (
                Ed25519PublicKey,
            )
        except ImportError:
            raise NoteError(
                "checking signatures needs: pip install 'agent-runtime-client[audit]'"
            ) from None
        public = Ed25519PublicKey.from_public_bytes(self.public)
        try:
            public.verify(signature, text.encode())
        except InvalidSignature:
            return False
        return True


def open_note(note: str, keys: Iterable[VerifierKey]) -> tuple[str, VerifierKey]:
    """Return a note's text and the known key that signed it.

    Signatures of unknown keys mean nothing; a wrong one of a known key spoils it.

    :raises UnknownSignerError: no known key has signed it
    :raises NoteError: it is malformed, or a known key's signature is wrong
    """
    if _CONTROL.search(note):
        raise NoteError("the note holds control characters")
    text, blank, signatures = note.rpartition("\n\n")
    if not blank or not signatures.endswith("\n"):
        raise NoteError("the note has no signatures")
    text += "\n"
    known = {(key.name, key.key_id): key for key in keys}
    signer: VerifierKey | None = None
    for line in signatures[:-1].split("\n", SIGNATURES_MAX):
        match = _SIGNATURE.fullmatch(line)
        if match is None:
            raise NoteError("a signature of the note is malformed")
        signature = _decoded(match["signature"])
        key = known.get((match["name"], signature[:KEY_ID_BYTES]))
        if key is None:
            continue
        if not key.verify(text, signature[KEY_ID_BYTES:]):
            raise NoteError("the note's signature is not valid")
        signer = key
    if signer is None:
        raise UnknownSignerError("no known key has signed the note")
    return text, signer


def notes_in(text: str) -> list[str]:
    """Split a text of several notes.

    Empty lines between them mean nothing. Malformed parts are returned, too;
    opening them raises NoteError.
    """
    notes: list[list[str]] = [[]]
    for line in text.splitlines(keepends=True):
        note = notes[-1]
        if note and note[-1].startswith(SIGNED) and not line.startswith(SIGNED):
            note = []
            notes.append(note)
        if note or line.strip():
            note.append(line)
    return ["".join(note) for note in notes if note]


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:  # not only binascii.Error: also for what isn't ASCII
        raise NoteError("not base64") from None


_VERIFIER_KEY: Final = re.compile(
    r"(?P<name>[^\s+]+)\+(?P<id>[0-9a-f]{8})\+(?P<key>\S+)"
)
_SIGNATURE: Final = re.compile(r"— (?P<name>[^\s+]+) (?P<signature>\S+)")
_CONTROL: Final = re.compile(r"[\x00-\x09\x0b-\x1f]")
