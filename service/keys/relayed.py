"""Seal what processes tell each other through the database, for a moment."""

import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from service.keys.cipher import NONCE_BYTES
from service.keys.key_ring import KeyRing


class RelayedMessages:
    """Seals with a key that all processes share; a message is for one name.

    AES-256-GCM with random nonces: NIST SP 800-38D allows 2**32 messages of a key.
    """

    def __init__(self, key_ring: KeyRing) -> None:
        self._cipher = AESGCM(key_ring.relay_key())

    def seal(self, message: bytes, name: str) -> bytes:
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, message, name.encode())

    def open(self, sealed: bytes, name: str) -> bytes | None:
        """Return a message; None if it isn't one of these processes, for this name."""
        nonce, rest = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
        try:
            return self._cipher.decrypt(nonce, rest, name.encode())
        except (InvalidTag, ValueError):
            return None
