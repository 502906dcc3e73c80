"""The file of the key ring, in the data folder; no database backup holds it.

A JSON object, mode 0600: ``format``, ``primary`` (id of the root key that wraps, or
null), ``root_keys`` (id to key), ``purpose_keys`` (name to key), ``checksum``
(SHA-256 in hex of the other members, as compact JSON with sorted names). Keys are
32 bytes in base64. Root keys rotate; purpose keys don't, for what they produced
can't be produced again from what is stored.
"""

import contextlib
import fcntl
import hashlib
import hmac
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from service.keys.cipher import KEY_BYTES, Key
from service.keys.root_key import (
    KEY_ID,
    KeyRingError,
    decode_key,
    encode_key,
    new_root_key,
)

FORMAT = "agent-runtime key ring 1"
PURPOSES = ("token_hash", "fingerprint")


@dataclass(frozen=True, slots=True)
class KeyRingContent:
    """The file's content; keys don't show in its repr."""

    primary_id: str | None
    root_keys: Mapping[str, Key]
    purpose_keys: Mapping[str, Key]


def new_content(*, with_root_key: bool) -> KeyRingContent:
    key_id, key = new_root_key()
    return KeyRingContent(
        primary_id=key_id if with_root_key else None,
        root_keys={key_id: key} if with_root_key else {},
        purpose_keys={name: Key(os.urandom(KEY_BYTES)) for name in PURPOSES},
    )


def file_state(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


@contextlib.contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Keep other processes from writing the ring; the lock file stays."""
    lock = path.with_name(path.name + ".lock")
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def write(path: Path, content: KeyRingContent) -> None:
    """Replace the file in one step that survives a power cut."""
    temporary = path.with_name(path.name + ".new")
    temporary.unlink(missing_ok=True)  # left by a crash; the lock is ours
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with open(os.open(temporary, flags, 0o600), "wb") as file:  # noqa: PTH123
        file.write(_serialise(content))
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _serialise(content: KeyRingContent) -> bytes:
    members: dict[str, Any] = {
        "format": FORMAT,
        "primary": content.primary_id,
        "root_keys": {k: encode_key(v) for k, v in content.root_keys.items()},
        "purpose_keys": {k: encode_key(v) for k, v in content.purpose_keys.items()},
    }
    members["checksum"] = _checksum(members)
    return json.dumps(members, indent=2).encode() + b"\n"


def parse(path: Path, text: str) -> KeyRingContent:
    members = _json_object(path, text)
    checksum = members.pop("checksum", "")
    if members.get("format") != FORMAT:
        raise KeyRingError(f"{path} is not a key ring of this version")
    if not hmac.compare_digest(str(checksum).encode(), _checksum(members).encode()):
        raise KeyRingError(f"{path} is damaged: the checksum is wrong")
    root_keys, purpose_keys = members.get("root_keys"), members.get("purpose_keys")
    if not isinstance(root_keys, dict) or not isinstance(purpose_keys, dict):
        raise KeyRingError(f"{path} is damaged: keys are missing")
    if not set(PURPOSES) <= purpose_keys.keys():
        raise KeyRingError(f"{path} is damaged: a purpose key is missing")
    primary_id = members.get("primary")
    if primary_id is not None and primary_id not in root_keys:
        raise KeyRingError(f"{path} is damaged: the primary root key is missing")
    if not all(KEY_ID.fullmatch(key_id) for key_id in root_keys):
        raise KeyRingError(f"{path} is damaged: a key id is malformed")
    return KeyRingContent(
        primary_id=primary_id,
        root_keys={k: decode_key(v, name=k) for k, v in root_keys.items()},
        purpose_keys={k: decode_key(v, name=k) for k, v in purpose_keys.items()},
    )


def _json_object(path: Path, text: str) -> dict[str, Any]:
    members: object = None
    # Raised outside of the handler: a JSONDecodeError carries the whole text.
    with contextlib.suppress(ValueError):
        members = json.loads(text)
    if not isinstance(members, dict):
        raise KeyRingError(f"{path} is damaged: not a JSON object")
    return members


def _checksum(members: Mapping[str, Any]) -> str:
    text = json.dumps(members, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
