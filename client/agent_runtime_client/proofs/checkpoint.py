"""Signed checkpoints: C2SP tlog-checkpoint, in signed notes with Ed25519."""

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

HASH_BYTES: Final = 32
ED25519: Final = b"\x01"
KEY_ID_BYTES: Final = 4
SIGNED: Final = "— "


class CheckpointError(ValueError):
    """The text is not a checkpoint, or the key hasn't signed it."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The size and root of the log's tree at one time; ``origin`` names the log."""

    origin: str
    size: int
    root: bytes

    @classmethod
    def load(cls, path: str | Path, *, public_key: str) -> Self:
        """Read the newest checkpoint in a file of one or more, and check its signature.

        :raises CheckpointError: there is none, or the key hasn't signed it
        """
        found = [
            cls.open(note, public_key=public_key)
            for note in _notes(Path(path).read_text("utf-8"))
        ]
        if not found:
            raise CheckpointError(f"{path} has no checkpoint")
        return max(found, key=lambda each: each.size)

    @classmethod
    def open(cls, note: str, *, public_key: str) -> Self:
        """Read a checkpoint that the key has signed; needs the extra ``audit``.

        ``public_key`` is ``name+id+key``, as the service and its operator show it.

        :raises CheckpointError: it isn't one, or the key hasn't signed it
        """
        text, blank, signatures = note.rpartition("\n\n")
        if not blank:
            raise CheckpointError("the checkpoint has no signature")
        text += "\n"
        name, key_id, public = _parsed_key(public_key)
        for line in signatures.splitlines():
            match = _SIGNATURE.fullmatch(line)
            signature = _decoded(match["signature"]) if match else b""
            if match is None or match["name"] != name:
                continue
            if signature[:KEY_ID_BYTES] != key_id:
                continue
            _check_signature(public, signature[KEY_ID_BYTES:], text)
            checkpoint = cls.parse(note)
            if checkpoint.origin != name:
                raise CheckpointError("the checkpoint is of another log than its key")
            return checkpoint
        raise CheckpointError("the key has not signed the checkpoint")

    @classmethod
    def parse(cls, note: str) -> Self:
        """Read a checkpoint without checking who has signed it.

        :raises CheckpointError: it isn't one
        """
        lines = note.split("\n")
        try:
            origin, size, root = lines[0], int(lines[1]), _decoded(lines[2])
        except (IndexError, ValueError):
            raise CheckpointError("the text is not a checkpoint") from None
        if not origin or size < 0 or len(root) != HASH_BYTES:
            raise CheckpointError("the text is not a checkpoint")
        return cls(origin, size, root)


def _parsed_key(text: str) -> tuple[str, bytes, bytes]:
    match = _KEY.fullmatch(text.strip())
    if match is None:
        raise CheckpointError("a public key is written as name+id+key")
    key = _decoded(match["key"])
    if len(key) != 1 + HASH_BYTES or key[:1] != ED25519:
        raise CheckpointError("the public key is not one of Ed25519")
    named = match["name"].encode() + b"\n" + key
    key_id = hashlib.sha256(named).digest()[:KEY_ID_BYTES]
    if key_id.hex() != match["id"]:
        raise CheckpointError("the public key's id is that of another key")
    return match["name"], key_id, key[1:]


def _check_signature(public: bytes, signature: bytes, text: str) -> None:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise CheckpointError(
            "checking signatures needs: pip install 'agent-runtime-client[audit]'"
        ) from None
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, text.encode())
    except InvalidSignature:
        raise CheckpointError("the checkpoint's signature is not valid") from None


def _notes(text: str) -> Iterator[str]:
    """Split a text of several notes: one ends with its last signature."""
    note: list[str] = []
    for line in text.splitlines(keepends=True):
        if note and note[-1].startswith(SIGNED) and not line.startswith(SIGNED):
            yield "".join(note)
            note = []
        if note or line.strip():
            note.append(line)
    if note:
        yield "".join(note)


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise CheckpointError("not base64") from None


_KEY = re.compile(r"(?P<name>[^\s+]+)\+(?P<id>[0-9a-f]{8})\+(?P<key>\S+)")
_SIGNATURE = re.compile(r"— (?P<name>[^\s+]+) (?P<signature>\S+)")
