"""Seal and open values: the format AEV1, as pure functions.

A sealed value is a header of 142 bytes and a ciphertext. Integers are unsigned
and big-endian; ``||`` joins bytes; H is SHA-256.

======  ======  ==============================================================
offset  length  field
======  ======  ==============================================================
0       4       magic, the ASCII letters ``AEV1``
4       1       algorithm; 1 is AES-256-GCM with HKDF-SHA-256, the only one
5       1       purpose; 1 is ``secret``, 2 is ``text``
6       16      id of the user key (a UUID's 16 bytes)
22      16      salt, random
38      12      wrap nonce, random
50      48      wrapped data key: ciphertext (32) and tag (16)
98      32      key commitment
130     12      nonce, random
142     n + 16  ciphertext and tag; n is a multiple of 64
======  ======  ==============================================================

1. The *context* is what the value belongs to: a sequence of fields, each of them
   a length of 4 bytes and then its bytes. For a secret: ``secret``, owner id,
   secret id, name, version. For a text: ``text``, owner id, session id, turn,
   field. Ids are 16 bytes, version and turn 8 bytes, everything else UTF-8.
   The context is never stored: who opens a value has to know what it is.
2. The data key is 32 random bytes for this one message. It is wrapped with
   AES-256-GCM under the user key, with the wrap nonce, and with
   ``header[0:38] || context`` as associated data.
3. HKDF-SHA-256 (RFC 5869) with the data key as input, the salt, and the info
   ``"AEV1 message" || H(header[0:98] || context)`` gives 64 bytes: the encryption
   key (32), then the key commitment (32). GCM alone doesn't commit to its key: one
   ciphertext can be made that opens under two. The commitment is compared, in
   constant time, before the ciphertext is touched.
4. The plaintext is a length of 4 bytes, the value, and zeros up to the next
   multiple of 64, so that the size says little about the value.
5. It is encrypted with AES-256-GCM under the encryption key, with the nonce, and
   with ``header[0:142] || context`` as associated data.

As text, a sealed value is base64url (RFC 4648, section 5) without padding.

The root key is not named in a header: it wraps user keys only, and is exchanged
without touching sealed values. NIST SP 800-38D (section 8.3) allows 2**32
messages with random nonces under one key; that bounds the values of one user.
"""

import base64
import binascii
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NoReturn
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import constant_time, hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_BYTES = 32
NONCE_BYTES = 12
TAG_BYTES = 16
SALT_BYTES = 16
COMMITMENT_BYTES = 32
BUCKET_BYTES = 64
LENGTH_BYTES = 4

MAGIC = b"AEV1"
AES_256_GCM = 1
_INFO = b"AEV1 message"

_START = len(MAGIC) + 2 + 16 + SALT_BYTES
_WRAPPED = _START + NONCE_BYTES + KEY_BYTES + TAG_BYTES
_COMMITTED = _WRAPPED + COMMITMENT_BYTES
HEADER_BYTES = _COMMITTED + NONCE_BYTES

RandomSource = Callable[[int], bytes]


class OpenError(Exception):
    """A sealed value can't be opened; the reason is never given."""

    def __init__(self) -> None:
        super().__init__("the sealed value can't be opened")


class Key:
    """32 bytes that show in no repr, pickle or copy.

    Python can't promise to erase them: ``bytes`` is immutable, and the collector
    and OpenSSL hold copies of their own.
    """

    __slots__ = ("_material",)

    def __init__(self, material: bytes) -> None:
        if len(material) != KEY_BYTES:
            raise ValueError(f"a key has {KEY_BYTES} bytes")
        self._material = material

    def expose(self) -> bytes:
        return self._material

    def __repr__(self) -> str:
        return "Key(***)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a key can't be pickled or copied")


@dataclass(frozen=True, slots=True)
class UserKey:
    key_id: UUID
    key: Key


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretBinding:
    """The context of a secret value: one version of one secret of one user."""

    purpose: ClassVar[int] = 1
    owner_id: UUID
    secret_id: UUID
    name: str
    version: int

    def context(self) -> bytes:
        return length_prefixed(
            b"secret",
            self.owner_id.bytes,
            self.secret_id.bytes,
            self.name.encode(),
            self.version.to_bytes(8),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBinding:
    """The context of a text: one field of one turn of a user's session."""

    purpose: ClassVar[int] = 2
    owner_id: UUID
    session_id: UUID
    turn: int
    field: str

    def context(self) -> bytes:
        return length_prefixed(
            b"text",
            self.owner_id.bytes,
            self.session_id.bytes,
            self.turn.to_bytes(8),
            self.field.encode(),
        )


Binding = SecretBinding | TextBinding


def seal(
    value: bytes,
    *,
    user_key: UserKey,
    binding: Binding,
    random: RandomSource = os.urandom,
) -> bytes:
    """Seal a value under a user's key, bound to its context.

    ``random`` is replaced only to make test vectors.
    """
    context = binding.context()
    data_key, salt = random(KEY_BYTES), random(SALT_BYTES)
    start = _header_prefix(user_key, binding) + salt
    wrap_nonce = random(NONCE_BYTES)
    wrapped = wrap_nonce + gcm_seal(
        user_key.key.expose(), wrap_nonce, data_key, start + context
    )
    encryption_key, commitment = _message_keys(data_key, start + wrapped, context)
    nonce = random(NONCE_BYTES)
    header = start + wrapped + commitment + nonce
    return header + gcm_seal(encryption_key, nonce, _pad(value), header + context)


def open_sealed(sealed: bytes, *, user_key: UserKey, binding: Binding) -> bytes:
    """Return the plaintext, or raise OpenError for any failure."""
    if len(sealed) < HEADER_BYTES + BUCKET_BYTES + TAG_BYTES:
        raise OpenError
    context = binding.context()
    header, start = sealed[:HEADER_BYTES], sealed[:_START]
    if not start.startswith(_header_prefix(user_key, binding)):
        raise OpenError
    wrap_nonce = sealed[_START : _START + NONCE_BYTES]
    wrapped = sealed[_START + NONCE_BYTES : _WRAPPED]
    data_key = gcm_open(user_key.key.expose(), wrap_nonce, wrapped, start + context)
    encryption_key, commitment = _message_keys(data_key, sealed[:_WRAPPED], context)
    if not constant_time.bytes_eq(commitment, sealed[_WRAPPED:_COMMITTED]):
        raise OpenError
    nonce, ciphertext = sealed[_COMMITTED:HEADER_BYTES], sealed[HEADER_BYTES:]
    return _unpad(gcm_open(encryption_key, nonce, ciphertext, header + context))


def sealed_to_text(sealed: bytes) -> str:
    return base64.urlsafe_b64encode(sealed).rstrip(b"=").decode("ascii")


def sealed_from_text(text: str) -> bytes:
    """Decode base64url without padding; anything else is an OpenError."""
    try:
        sealed = base64.b64decode(
            text + "=" * (-len(text) % 4), altchars=b"-_", validate=True
        )
    except (binascii.Error, ValueError):
        raise OpenError from None
    # The last character may hold bits that decode to nothing.
    if sealed_to_text(sealed) != text:
        raise OpenError
    return sealed


def length_prefixed(*fields: bytes) -> bytes:
    """Join fields so that no two sequences of fields give the same bytes."""
    return b"".join(len(part).to_bytes(LENGTH_BYTES) + part for part in fields)


def gcm_seal(key: bytes, nonce: bytes, plaintext: bytes, aad: bytes) -> bytes:
    """AES-256-GCM with a 96-bit nonce; the 16 bytes of the tag come last."""
    if not _has_our_sizes(key, nonce):
        raise ValueError("AES-256-GCM here takes a key of 32 and a nonce of 12 bytes")
    return AESGCM(key).encrypt(nonce, plaintext, aad)


def gcm_open(key: bytes, nonce: bytes, ciphertext: bytes, aad: bytes) -> bytes:
    if not _has_our_sizes(key, nonce):
        raise OpenError
    try:
        return AESGCM(key).decrypt(nonce, ciphertext, aad)
    except InvalidTag:
        raise OpenError from None


def _has_our_sizes(key: bytes, nonce: bytes) -> bool:
    # The library takes shorter keys and other nonces; this format doesn't.
    return len(key) == KEY_BYTES and len(nonce) == NONCE_BYTES


def _header_prefix(user_key: UserKey, binding: Binding) -> bytes:
    return MAGIC + bytes((AES_256_GCM, binding.purpose)) + user_key.key_id.bytes


def _message_keys(
    data_key: bytes, header: bytes, context: bytes
) -> tuple[bytes, bytes]:
    """Derive the encryption key and the commitment from ``header[0:98]``."""
    derived = HKDF(
        algorithm=hashes.SHA256(),
        length=KEY_BYTES + COMMITMENT_BYTES,
        salt=header[_START - SALT_BYTES : _START],
        info=_INFO + hashlib.sha256(header + context).digest(),
    ).derive(data_key)
    return derived[:KEY_BYTES], derived[KEY_BYTES:]


def _pad(value: bytes) -> bytes:
    content = len(value).to_bytes(LENGTH_BYTES) + value
    return content + bytes(-len(content) % BUCKET_BYTES)


def _unpad(padded: bytes) -> bytes:
    end = LENGTH_BYTES + int.from_bytes(padded[:LENGTH_BYTES])
    value = padded[LENGTH_BYTES:end]
    # One value has one encoding: the smallest bucket, filled with zeros.
    if not constant_time.bytes_eq(_pad(value), padded):
        raise OpenError
    return value
