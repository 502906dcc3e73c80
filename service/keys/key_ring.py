"""The key ring: root keys and purpose keys, from a file in the data folder."""

import contextlib
import hashlib
import hmac
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Self
from uuid import UUID

from service.keys import key_ring_file
from service.keys.cipher import length_prefixed
from service.keys.key_ring_file import KeyRingContent
from service.keys.root_key import (
    KeyRingError,
    LocalRootKeys,
    RootKeys,
    new_root_key,
    read_private,
)

KEY_RING_FILE = "keys.json"
FINGERPRINT_BYTES = 16


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
            with key_ring_file.exclusive(path):
                if not path.exists():
                    key_ring_file.write(
                        path, key_ring_file.new_content(with_root_key=root is None)
                    )
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

    def token_entropy(self, seed: bytes, idempotency_key: bytes) -> bytes:
        """Return the keyed hash, of 32 bytes, of a seed and an Idempotency-Key."""
        return self._mac("fingerprint", b"seed", seed, idempotency_key)

    def request_state_mac(self, *parts: bytes) -> bytes:
        """Return 32 bytes that authenticate state which an agent's client keeps."""
        return self._mac("fingerprint", b"request state", *parts)

    def call_digest(self, *parts: bytes) -> bytes:
        """Return 32 bytes that recognise the same tool call.

        Keyed, because a plain hash lets short arguments be guessed.
        """
        return self._mac("fingerprint", b"tool call", *parts)

    def relay_key(self) -> bytes:
        """Return the 32 bytes that seal what processes tell each other."""
        return self._mac("fingerprint", b"relayed message")

    def purpose_check(self) -> bytes:
        """Return 32 bytes that identify these purpose keys."""
        checks = (self._mac(name, b"purpose check") for name in key_ring_file.PURPOSES)
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

    def remove_root_key(self, key_id: str) -> Path:
        """Delete a root key from the file; never the primary one.

        Only after ``retire_root_key`` has shown that it is no longer needed. Earlier
        backups need it, and perhaps this is its last copy: returns the path of a
        copy of the file, with this key.
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
            kept = self._path.with_name(f"keys-{re.sub('[/:]', '_', key_id)}.json")
            usable = replace(content, primary_id=content.primary_id or key_id)
            key_ring_file.write(kept, usable)
            self._replace(replace(content, root_keys=left, primary_id=primary_id))
        return kept

    def __repr__(self) -> str:
        return f"KeyRing(primary_id={self.primary_id!r}, keys={len(self.key_ids)})"

    def _wrapping(self) -> RootKeys:
        return self._root or self._file_keys

    def _mac(self, purpose: str, *parts: bytes) -> bytes:
        key = self._content.purpose_keys[purpose].expose()
        return hmac.digest(key, length_prefixed(*parts), "sha256")

    def _read(self) -> None:
        self._seen = key_ring_file.file_state(self._path)
        content = key_ring_file.parse(self._path, read_private(self._path))
        if self._root is None and content.primary_id is None:
            raise KeyRingError(f"{self._path} has no primary root key")
        self._content = content
        self._file_keys = LocalRootKeys(
            content.root_keys, primary_id=content.primary_id
        )

    def _read_if_changed(self) -> None:
        if key_ring_file.file_state(self._path) != self._seen:
            self._read()

    @contextlib.contextmanager
    def _editing(self) -> Iterator[KeyRingContent]:
        with key_ring_file.exclusive(self._path):
            self._read()
            yield self._content

    def _replace(self, content: KeyRingContent) -> None:
        key_ring_file.write(self._path, content)
        self._read()
