"""Aggregate ids derived from names, which makes names unique."""

from functools import lru_cache
from uuid import UUID, uuid5

# Any fixed namespace would do; changing it would orphan every named aggregate.
NAMESPACE = UUID("5d0c4f6e-2f0b-4b0e-9a39-7f1c0b6d9a11")

REMEMBERED_MAX = 20_000


def id_text(identifier: UUID) -> str:
    """Return ``str(identifier)``, cached: the same ids recur."""
    # By its number: hashing and comparing UUIDs takes calls of Python functions.
    return _text_of_number(identifier.int)


@lru_cache(REMEMBERED_MAX)
def named_id(kind: str, *names: str) -> UUID:
    """Return the id of the one aggregate of a kind with these names.

    Each part goes in with its length, so that ("ab", "c") isn't ("a", "bc").
    """
    parts = "".join(f"{len(part)}:{part}" for part in (kind, *names))
    return uuid5(NAMESPACE, parts)


@lru_cache(REMEMBERED_MAX)
def _text_of_number(number: int) -> str:
    return str(UUID(int=number))
