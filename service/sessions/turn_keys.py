"""The turns that a session knows, as one text in the state of its aggregate.

For each turn a space and the key of its id; if it was made from spans, ":" and their
number, "@" and the version at which the session got it. A dict from turn id to these
would need eight times the memory, in a cache of 20,000 aggregates, and each turn would
copy it: state is immutable.
"""

import base64
import hashlib
from typing import NamedTuple

# A key is 12 base64url characters of the id's hash: the probability that any two of
# 10,000 turns share one is 1 in 10**14.
KEY_BYTES = 9


class FromSpans(NamedTuple):
    """How many spans a turn was made from, and at which version of its session."""

    spans: int
    version: int


def entry(turn_id: str, spans: int | None, version: int) -> str:
    """Return what is added for a turn."""
    return _key(turn_id) + ("" if spans is None else f":{spans}@{version}")


def is_known(keys: str, turn_id: str) -> bool:
    return _key(turn_id) in keys


def from_spans(keys: str, turn_id: str) -> FromSpans | None:
    """Return what is kept of a turn that was made from spans; None for others."""
    spans, _, version = _find(keys, turn_id).partition(":")[2].partition("@")
    return FromSpans(int(spans), int(version)) if spans else None


def replaced(keys: str, turn_id: str, spans: int | None, version: int) -> str:
    """Return the keys with a known turn made anew from spans."""
    return keys.replace(_find(keys, turn_id), entry(turn_id, spans, version))


def _find(keys: str, turn_id: str) -> str:
    """Return a turn's entry; empty for an unknown one."""
    _, key, rest = keys.partition(_key(turn_id))
    return key + rest.split(" ", 1)[0]


def _key(turn_id: str) -> str:
    digest = hashlib.blake2b(turn_id.encode(), digest_size=KEY_BYTES).digest()
    return " " + base64.urlsafe_b64encode(digest).decode()
