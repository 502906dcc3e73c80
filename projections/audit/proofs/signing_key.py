"""The signing key of checkpoints: a file in the data folder, outside the database."""

import contextlib
import os
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from service.keys.root_key import KeyRingError, read_private

SIGNING_KEY_FILE = "checkpoint-key.pem"


def load_or_create_signing_key(path: Path) -> Ed25519PrivateKey:
    """Read the key, or create it; of two processes at once, one creates it.

    PEM, PKCS #8, mode 0600.

    :raises KeyRingError: it is open to others, or no Ed25519 key
    """
    if not path.exists():
        _create(path)
    try:
        key = load_pem_private_key(read_private(path).encode("ascii"), password=None)
    except (ValueError, TypeError):
        # Without the reason, which could quote the file.
        raise KeyRingError(f"{path} holds no private key") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyRingError(f"{path} holds no Ed25519 key")
    return key


def _create(path: Path) -> None:
    pem = Ed25519PrivateKey.generate().private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)  # of an earlier process with this number
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        with open(os.open(temporary, flags, 0o600), "wb") as file:  # noqa: PTH123
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
        # Unlike a rename, this never replaces a key that is there.
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(temporary)
    finally:
        temporary.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
