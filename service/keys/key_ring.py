"""The key ring: the file of keys in the data folder, which no database backup holds.

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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self
from uuid import UUID

from service.keys.cipher import KEY_BYTES, Key, length_prefixed
from service.keys.root_key import (
    KEY_ID,
    KeyRingError,
    LocalRootKeys,
    RootKeys,
    decode_key,
    encode_key,
    new_root_key,
    read_private,
)

KEY_RING_FILE = "keys.json"
FORMAT = "agent-runtime key ring 1"
PURPOSES = ("token_hash", "fingerprint")
FINGERPRINT_BYTES = 16


@dataclass(frozen=True, slots=True)
class _Content:
    """The file's content; keys don't show in its repr."""

    primary_id: str | None
    root_keys: Mapping[str, Key]
    purpose_keys: Mapping[str, Key]


class KeyRing:
    """Root keys and purpose keys; implements RootKeys.

    Root keys from outside (``root``) come before those of the file, which then
    only unwrap what was wrapped before. A changed file is noticed: before each
    wrap, and when an unknown id is to be unwrapped. So a rotation by another
    process reaches this one without a restart.
    """

    def __init__(self, path: Path, *, root: RootKeys | None = None) -> None:
        self._path = path
        self._root = root
        self._read()

    @classmethod
    def load(cls, path: Path, *, root: RootKeys | None = None) -> Self:
        """Read a ring.

        :raises KeyRingError: there is none, or it is damaged
        """
        if not path.exists():
            raise KeyRingError(f"there is no key ring {path}")
        return cls(path, root=root)

    @classmethod
    def load_or_create(cls, path: Path, *, root: RootKeys | None = None) -> Self:
        """Read the ring, or create it; of two processes at once, one creates it.

        A new ring has a root key of its own only when ``root`` is not given.
        """
        if not path.exists():
            with _exclusive(path):
                if not path.exists():
                    _write(path, _new_content(with_root_key=root is None))
        return cls(path, root=root)

    @property
    def primary_id(self) -> str:
        return self._wrapping().primary_id

    @property
    def key_ids(self) -> frozenset[str]:
        outside = self._root.key_ids if self._root else frozenset()
        return outside | self._file_keys.key_ids

    async def refresh(self) -> None:
        self._read_if_changed()
        if self._root:
            await self._root.refresh()

    async def wrap(self, plaintext: bytes, aad: bytes) -> tuple[str, bytes]:
        self._read_if_changed()
        return await self._wrapping().wrap(plaintext, aad)

    async def unwrap(self, key_id: str, blob: bytes, aad: bytes) -> bytes:
        if key_id not in self.key_ids:
            await self.refresh()
        if self._root and key_id in self._root.key_ids:
            return await self._root.unwrap(key_id, blob, aad)
        return await self._file_keys.unwrap(key_id, blob, aad)

    def token_hash(self, token: str) -> bytes:
        """Return the 32 bytes under which an API token is stored."""
        return self._mac("token_hash", token.encode("utf-8", "surrogatepass"))

    def fingerprint(self, owner_id: UUID, value: str) -> str:
        """Return 32 hex digits, the same for equal values of one owner only."""
        encoded = value.encode("utf-8", "surrogatepass")
        mac = self._mac("fingerprint", b"value", owner_id.bytes, encoded)
        return mac[:FINGERPRINT_BYTES].hex()

    def user_name_hash(self, name: str) -> bytes:
        """Return 32 bytes under which a user's name is reserved."""
        return self._mac("fingerprint", b"user name", name.encode())

    def request_fingerprint(self, *parts: bytes) -> bytes:
        """Return 32 bytes that recognise a repeated request.

        Keyed, because a plain hash of a body lets a short secret be guessed.
        """
        return self._mac("fingerprint", b"request", *parts)

    def request_state_mac(self, *parts: bytes) -> bytes:
        """Return 32 bytes that authenticate state which an agent's client keeps."""
        return self._mac("fingerprint", b"request state", *parts)

    def call_digest(self, *parts: bytes) -> bytes:
        """Return 32 bytes that recognise the same tool call.

        Keyed, because a plain hash lets short arguments be guessed.
        """
        return self._mac("fingerprint", b"tool call", *parts)

    def purpose_check(self) -> bytes:
        """Return 32 bytes that identify these purpose keys."""
        checks = (self._mac(name, b"purpose check") for name in PURPOSES)
        return hashlib.sha256(b"".join(checks)).digest()

    @property
    def makes_root_keys(self) -> bool:
        """Whether the primary root key is the file's own, and not from outside."""
        return self._root is None

    @property
    def file_key_ids(self) -> frozenset[str]:
        return self._file_keys.key_ids

    def replace_primary(self) -> str:
        """Create a root key in the file, make it primary, and return its id.

        In one step, so that any other root key of the file is an old one.
        """
        key_id, key = new_root_key()
        with self._editing() as content:
            root_keys = {**content.root_keys, key_id: key}
            self._replace(replace(content, root_keys=root_keys, primary_id=key_id))
        return key_id

    def remove_root_key(self, key_id: str) -> None:
        """Delete a root key from the file permanently; never the primary one.

        Only after ``retire_root_key`` has shown that it is no longer needed.
        """
        with self._editing() as content:
            if key_id not in content.root_keys:
                raise KeyRingError(f"there is no root key {key_id}")
            if key_id == content.primary_id and self._root is None:
                raise KeyRingError(f"root key {key_id} is the primary one")
            left = {
                name: key for name, key in content.root_keys.items() if name != key_id
            }
            primary_id = None if key_id == content.primary_id else content.primary_id
            self._replace(replace(content, root_keys=left, primary_id=primary_id))

    def __repr__(self) -> str:
        return f"KeyRing(primary_id={self.primary_id!r}, keys={len(self.key_ids)})"

    def _wrapping(self) -> RootKeys:
        return self._root or self._file_keys

    def _mac(self, purpose: str, *parts: bytes) -> bytes:
        key = self._content.purpose_keys[purpose].expose()
        return hmac.digest(key, length_prefixed(*parts), "sha256")

    def _read(self) -> None:
        self._seen = _file_state(self._path)
        content = _parse(self._path, read_private(self._path))
        if self._root is None and content.primary_id is None:
            raise KeyRingError(f"{self._path} has no primary root key")
        self._content = content
        self._file_keys = LocalRootKeys(
            content.root_keys, primary_id=content.primary_id
        )

    def _read_if_changed(self) -> None:
        if _file_state(self._path) != self._seen:
            self._read()

    @contextlib.contextmanager
    def _editing(self) -> Iterator[_Content]:
        with _exclusive(self._path):
            self._read()
            yield self._content

    def _replace(self, content: _Content) -> None:
        _write(self._path, content)
        self._read()


def _new_content(*, with_root_key: bool) -> _Content:
    key_id, key = new_root_key()
    return _Content(
        primary_id=key_id if with_root_key else None,
        root_keys={key_id: key} if with_root_key else {},
        purpose_keys={name: Key(os.urandom(KEY_BYTES)) for name in PURPOSES},
    )


def _file_state(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


@contextlib.contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    """Keep other processes from writing the ring; the lock file stays."""
    lock = path.with_name(path.name + ".lock")
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _write(path: Path, content: _Content) -> None:
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


def _serialise(content: _Content) -> bytes:
    members: dict[str, Any] = {
        "format": FORMAT,
        "primary": content.primary_id,
        "root_keys": {k: encode_key(v) for k, v in content.root_keys.items()},
        "purpose_keys": {k: encode_key(v) for k, v in content.purpose_keys.items()},
    }
    members["checksum"] = _checksum(members)
    return json.dumps(members, indent=2).encode() + b"\n"


def _parse(path: Path, text: str) -> _Content:
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
    return _Content(
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
