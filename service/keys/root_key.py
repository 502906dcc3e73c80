"""Root keys: where they come from, and wrapping other keys under them.

A blob wrapped by :class:`LocalRootKeys` is: version (1 byte, the value 1), nonce
(12), ciphertext and tag (n + 16). AES-256-GCM; the associated data is the key id
and then the caller's, each with a length of 4 bytes before it.
"""

import base64
import os
import re
import secrets
import stat
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, Self

from service.errors import ConfigError, UnavailableError
from service.keys.cipher import (
    KEY_BYTES,
    NONCE_BYTES,
    Key,
    OpenError,
    gcm_open,
    gcm_seal,
    length_prefixed,
)

BLOB_VERSION = b"\x01"
KEY_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]{0,127}")

# systemd gives the service user access to a credential by an ACL, whose mask
# shows as the group's bits; the folder around it is closed to everyone else.
CREDENTIAL_MODES_REFUSED = 0o037
PRIVATE_MODES_REFUSED = 0o077


class KeyRingError(ConfigError):
    """A key file or setting is unusable; the message never holds key material."""


class WrongRootKeyError(ConfigError):
    """A root key that is needed is missing, or is another one of the same id."""

    def __init__(self, root_key_id: str) -> None:
        super().__init__(f"root key {root_key_id} is missing or not the right one")
        self.root_key_id = root_key_id


class RootKeyUnavailableError(UnavailableError):
    """A key program didn't answer in time, or its answer is malformed.

    ``reason`` is for operators; callers of the API see only the message.
    """

    code = "root_key_unavailable"

    def __init__(self, reason: str) -> None:
        super().__init__(
            "the root key is temporarily unavailable; retry later",
            headers={"Retry-After": "5"},
        )
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class RootKeys(Protocol):
    """Several root keys: exactly one wraps, all of them unwrap."""

    @property
    def primary_id(self) -> str: ...

    @property
    def key_ids(self) -> frozenset[str]: ...

    async def refresh(self) -> None:
        """Read again which keys there are."""
        ...

    async def wrap(self, plaintext: bytes, aad: bytes) -> tuple[str, bytes]:
        """Return the id of the primary key and the blob wrapped under it."""
        ...

    async def unwrap(self, key_id: str, blob: bytes, aad: bytes) -> bytes:
        """Raise WrongRootKeyError for an unknown id, OpenError for a bad blob."""
        ...


class LocalRootKeys:
    """Root keys in this process's memory; without a primary, they only unwrap."""

    def __init__(self, keys: Mapping[str, Key], *, primary_id: str | None) -> None:
        if primary_id is not None and primary_id not in keys:
            raise KeyRingError("the primary root key is not among the root keys")
        self._keys = dict(keys)
        self._primary_id = primary_id

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``id:base64`` entries, separated by commas or space; primary first.

        This is the form of an environment variable or a credential file.
        """
        keys: dict[str, Key] = {}
        for number, entry in enumerate(re.split(r"[,\s]+", text.strip()), start=1):
            key_id, _, encoded = entry.rpartition(":")
            if not KEY_ID.fullmatch(key_id) or key_id in keys:
                raise KeyRingError(f"root key {number} needs an id of its own")
            keys[key_id] = decode_key(encoded, name=key_id)
        return cls(keys, primary_id=next(iter(keys)))

    @classmethod
    def from_credential(cls, path: Path) -> Self:
        """Read a file of systemd's credentials folder, in the form of ``parse``."""
        return cls.parse(read_private(path, refused=CREDENTIAL_MODES_REFUSED))

    @property
    def primary_id(self) -> str:
        if self._primary_id is None:
            raise KeyRingError("none of the root keys is primary")
        return self._primary_id

    @property
    def key_ids(self) -> frozenset[str]:
        return frozenset(self._keys)

    async def refresh(self) -> None:
        pass  # variables and files are read once

    async def wrap(self, plaintext: bytes, aad: bytes) -> tuple[str, bytes]:
        key_id, nonce = self.primary_id, os.urandom(NONCE_BYTES)
        bound = length_prefixed(key_id.encode(), aad)
        ciphertext = gcm_seal(self._keys[key_id].expose(), nonce, plaintext, bound)
        return key_id, BLOB_VERSION + nonce + ciphertext

    async def unwrap(self, key_id: str, blob: bytes, aad: bytes) -> bytes:
        if key_id not in self._keys:
            raise WrongRootKeyError(key_id)
        if not blob.startswith(BLOB_VERSION):
            raise OpenError
        nonce_end = len(BLOB_VERSION) + NONCE_BYTES
        nonce, ciphertext = blob[len(BLOB_VERSION) : nonce_end], blob[nonce_end:]
        bound = length_prefixed(key_id.encode(), aad)
        return gcm_open(self._keys[key_id].expose(), nonce, ciphertext, bound)

    def __repr__(self) -> str:
        return f"LocalRootKeys(primary_id={self._primary_id!r}, keys={len(self._keys)})"


def new_root_key() -> tuple[str, Key]:
    """Make a root key and its id, ``k-YYYYMMDD-xxxxxxxx``."""
    key_id = f"k-{datetime.now(UTC):%Y%m%d}-{secrets.token_hex(4)}"
    return key_id, Key(os.urandom(KEY_BYTES))


def encode_key(key: Key) -> str:
    return base64.b64encode(key.expose()).decode()


def decode_key(encoded: object, *, name: str) -> Key:
    try:
        return Key(base64.b64decode(str(encoded), validate=True))
    except ValueError:  # also binascii.Error; its text is not repeated
        raise KeyRingError(f"key {name} is not {KEY_BYTES} bytes in base64") from None


def read_private(path: Path, *, refused: int = PRIVATE_MODES_REFUSED) -> str:
    """Read a private file.

    :raises KeyRingError: users other than its owner may access it
    """
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        if stat.S_IMODE(status.st_mode) & refused:
            mode = stat.S_IMODE(status.st_mode)
            raise KeyRingError(f"{path} is open to others: mode {mode:04o}, not 0600")
        if status.st_uid not in {os.geteuid(), 0}:
            raise KeyRingError(f"{path} belongs to another user")
        # Not strict: a UnicodeDecodeError would carry the whole file.
        return file.read().decode("ascii", errors="replace")
