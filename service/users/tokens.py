"""Bearer tokens: a prefix, 30 random base62 characters, and their CRC-32.

The prefix is ``art_`` for tokens of users, ``agt_`` for those of agents.
"""

import re
import secrets
import zlib
from typing import Final

PREFIX: Final = "art_"
AGENT_PREFIX: Final = "agt_"
# In the data folder: the token of the first administrator.
ADMIN_TOKEN_FILE: Final = "admin-token"  # noqa: S105  # a file's name
RANDOM_CHARACTERS: Final = 30
CHECKSUM_CHARACTERS: Final = 6
ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

_BODY: Final = re.compile(rf"[0-9A-Za-z]{{{RANDOM_CHARACTERS + CHECKSUM_CHARACTERS}}}")


def new_token(entropy: bytes | None = None, *, prefix: str = PREFIX) -> str:
    """Return a token made of 32 bytes, by default random ones; it keeps 178 bits."""
    number = int.from_bytes(secrets.token_bytes(32) if entropy is None else entropy)
    random = _digits(number, RANDOM_CHARACTERS)
    return prefix + random + _checksum(random)


def is_well_formed(token: str, prefix: str = PREFIX) -> bool:
    """Check form and checksum, without a look-up."""
    body = token.removeprefix(prefix)
    if body == token or not _BODY.fullmatch(body):
        return False
    return _checksum(body[:RANDOM_CHARACTERS]) == body[RANDOM_CHARACTERS:]


def _checksum(random: str) -> str:
    return _digits(zlib.crc32(random.encode()), CHECKSUM_CHARACTERS)


def _digits(number: int, count: int) -> str:
    """Return the last digits of a number to the base of 62."""
    digits = ""
    for _ in range(count):
        number, digit = divmod(number, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits
