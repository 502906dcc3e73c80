"""The turns that a session knows, as one text in the state of its aggregate.

For each turn a space and the key of its id; if it was made from spans, ":" and their
number. A dict from turn id to number would need eight times the memory, in a cache of
20,000 aggregates, and each turn would copy it: state is immutable.
"""

import base64
import hashlib

# A key is 12 base64url characters of the id's hash: the probability that any two of
# 10,000 turns share one is 1 in 10**14.
KEY_BYTES = 9


def entry(turn_id: str, spans: int | None) -> str:
    """Return what is added for a new turn."""
    return _key(turn_id) + ("" if spans is None else f":{spans}")


def find(keys: str, turn_id: str) -> str | None:
    """Return a turn's entry, or None."""
    _, key, rest = keys.partition(_key(turn_id))
    return key + rest.split(" ", 1)[0] if key else None


def replaced(keys: str, turn_id: str, spans: int | None) -> str:
    """Return the keys with another number of spans for a known turn."""
    known = find(keys, turn_id)
    assert known is not None
    return keys.replace(known, entry(turn_id, spans))


def _key(turn_id: str) -> str:
    digest = hashlib.blake2b(turn_id.encode(), digest_size=KEY_BYTES).digest()
    return " " + base64.urlsafe_b64encode(digest).decode()
