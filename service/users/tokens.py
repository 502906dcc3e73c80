"""Bearer tokens: ``art_``, 30 random base62 characters, and their CRC-32."""

import re
import secrets
import zlib
from typing import Final

PREFIX: Final = "art_"
RANDOM_CHARACTERS: Final = 30
CHECKSUM_CHARACTERS: Final = 6
ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

PATTERN: Final = re.compile(
    rf"{PREFIX}[0-9A-Za-z]{{{RANDOM_CHARACTERS + CHECKSUM_CHARACTERS}}}"
)


def new_token() -> str:
    """Return a fresh token; 178 bits of it are random."""
    random = "".join(secrets.choice(ALPHABET) for _ in range(RANDOM_CHARACTERS))
    return PREFIX + random + _checksum(random)


def is_well_formed(token: str) -> bool:
    """Check form and checksum, without a look-up."""
    if not PATTERN.fullmatch(token):
        return False
    body = token.removeprefix(PREFIX)
    return _checksum(body[:RANDOM_CHARACTERS]) == body[RANDOM_CHARACTERS:]


def _checksum(random: str) -> str:
    number = zlib.crc32(random.encode())
    digits = ""
    for _ in range(CHECKSUM_CHARACTERS):
        number, digit = divmod(number, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits
