"""The attack that key commitment is for: one GCM ciphertext valid under two keys.

GHASH (NIST SP 800-38D, section 6.4) is linear in the ciphertext. Asking for the
same tag under both keys gives one linear equation in GF(2**128), and one block of
ciphertext is free to solve it.
"""

from collections.abc import Sequence

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

FIELD_POLYNOMIAL = 0xE1 << 120


def two_key_ciphertext(
    keys: Sequence[bytes],
    nonce: bytes,
    aad: bytes,
    *,
    blocks: int,
    second_starts_with: bytes = b"",
) -> bytes:
    """Make a ciphertext and tag that GCM accepts under both keys."""
    first, second = keys
    stream = _encrypt_block(second, nonce + (2).to_bytes(4))
    start = bytes(a ^ b for a, b in zip(second_starts_with, stream, strict=False))
    body = bytearray(16 * blocks)
    body[: len(start)] = start
    hash_keys = [int.from_bytes(_encrypt_block(key, bytes(16))) for key in keys]
    tags = [_tag(key, nonce, aad, bytes(body)) for key in keys]
    # The last block is multiplied by the square of the hash key.
    squares = [_multiply(hash_key, hash_key) for hash_key in hash_keys]
    last = _multiply(tags[0] ^ tags[1], _inverse(squares[0] ^ squares[1]))
    body[-16:] = last.to_bytes(16)
    return bytes(body) + _tag(first, nonce, aad, bytes(body)).to_bytes(16)


def _tag(key: bytes, nonce: bytes, aad: bytes, body: bytes) -> int:
    hash_key = int.from_bytes(_encrypt_block(key, bytes(16)))
    sizes = (len(aad) * 8).to_bytes(8) + (len(body) * 8).to_bytes(8)
    hashed, total = aad + bytes(-len(aad) % 16) + body + sizes, 0
    for place in range(0, len(hashed), 16):
        block = int.from_bytes(hashed[place : place + 16])
        total = _multiply(total ^ block, hash_key)
    return total ^ int.from_bytes(_encrypt_block(key, nonce + (1).to_bytes(4)))


def _encrypt_block(key: bytes, block: bytes) -> bytes:
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305
    return encryptor.update(block)


def _multiply(one: int, other: int) -> int:
    product = 0
    for bit in range(127, -1, -1):
        if one >> bit & 1:
            product ^= other
        other = other >> 1 ^ (FIELD_POLYNOMIAL if other & 1 else 0)
    return product


def _inverse(one: int) -> int:
    result = 1 << 127
    for _ in range(127):
        one = _multiply(one, one)
        result = _multiply(result, one)
    return result
