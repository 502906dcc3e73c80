"""A second writer and reader of AEV1, made from the format's description alone."""

import hashlib
import hmac
from collections.abc import Callable, Sequence
from uuid import UUID

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

FIELDS = {
    "magic": slice(0, 4),
    "algorithm": slice(4, 5),
    "purpose": slice(5, 6),
    "user key id": slice(6, 22),
    "salt": slice(22, 38),
    "wrap nonce": slice(38, 50),
    "wrapped data key": slice(50, 98),
    "commitment": slice(98, 130),
    "nonce": slice(130, 142),
    "ciphertext": slice(142, None),
}


def context_of(*fields: bytes) -> bytes:
    context = b""
    for one in fields:
        context += len(one).to_bytes(4, "big") + one
    return context


def secret_context(owner: UUID, secret: UUID, name: str, version: int) -> bytes:
    number = version.to_bytes(8, "big")
    return context_of(b"secret", owner.bytes, secret.bytes, name.encode(), number)


def text_context(owner: UUID, session: UUID, turn: int, field: str) -> bytes:
    number = turn.to_bytes(8, "big")
    return context_of(b"text", owner.bytes, session.bytes, number, field.encode())


def message_keys(data_key: bytes, header: bytes, context: bytes) -> tuple[bytes, bytes]:
    info = b"AEV1 message" + hashlib.sha256(header[:98] + context).digest()
    extracted = hmac.digest(header[FIELDS["salt"]], data_key, "sha256")
    first = hmac.digest(extracted, info + b"\x01", "sha256")
    second = hmac.digest(extracted, first + info + b"\x02", "sha256")
    return first, second


def encrypt(key: bytes, nonce: bytes, plaintext: bytes, aad: bytes) -> bytes:
    gcm = Cipher(algorithms.AES(key), modes.GCM(nonce)).encryptor()
    gcm.authenticate_additional_data(aad)
    return gcm.update(plaintext) + gcm.finalize() + gcm.tag


def decrypt(key: bytes, nonce: bytes, ciphertext: bytes, aad: bytes) -> bytes:
    body, tag = ciphertext[:-16], ciphertext[-16:]
    gcm = Cipher(algorithms.AES(key), modes.GCM(nonce, tag)).decryptor()
    gcm.authenticate_additional_data(aad)
    return gcm.update(body) + gcm.finalize()


def read(sealed: bytes, *, user_key: bytes, context: bytes) -> bytes:
    part = {name: sealed[place] for name, place in FIELDS.items()}
    assert (part["magic"], part["algorithm"]) == (b"AEV1", b"\x01")
    data_key = decrypt(
        user_key, part["wrap nonce"], part["wrapped data key"], sealed[:38] + context
    )
    encryption_key, commitment = message_keys(data_key, sealed, context)
    assert commitment == part["commitment"]
    padded = decrypt(
        encryption_key, part["nonce"], part["ciphertext"], sealed[:142] + context
    )
    size = int.from_bytes(padded[:4], "big")
    assert len(padded) % 64 == 0
    assert padded[4 + size :] == bytes(len(padded) - 4 - size)
    return padded[4 : 4 + size]


def write(
    value: bytes,
    *,
    user_key: bytes,
    key_id: UUID,
    purpose: int,
    context: bytes,
    random: Sequence[bytes],
    padded: bytes | None = None,
) -> bytes:
    """Seal with these: data key, salt, wrap nonce, nonce; or with a wrong padding."""
    data_key, salt, wrap_nonce, nonce = random
    header = b"AEV1" + bytes([1, purpose]) + key_id.bytes + salt
    header += wrap_nonce + encrypt(user_key, wrap_nonce, data_key, header + context)
    encryption_key, commitment = message_keys(data_key, header, context)
    header += commitment + nonce
    if padded is None:
        padded = len(value).to_bytes(4, "big") + value
        padded += bytes((64 - len(padded)) % 64)
    return header + encrypt(encryption_key, nonce, padded, header + context)


def replay(*parts: bytes) -> Callable[[int], bytes]:
    """Give these bytes, in this order, instead of random ones."""
    left = list(parts)

    def random(size: int) -> bytes:
        part = left.pop(0)
        assert len(part) == size
        return part

    return random
