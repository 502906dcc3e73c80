"""An entry of the log as the service exports it, and its leaf of the Merkle tree.

A leaf hashes every column of the log and nothing else, in this order; integers have
8 bytes with sign, big-endian::

    1 byte    0x01, the version of this encoding
    8 bytes   position; the leaf's index is one less
    16 bytes  aggregate id
    8 bytes   version
    8 bytes   recorded_at, in microseconds since 1970-01-01T00:00:00Z
    16 bytes  command id
    8 bytes   length of the topic, then the topic in UTF-8
    8 bytes   length of the metadata, then the metadata in UTF-8, as stored
    8 bytes   length of the state, then the state, as stored

What is sealed is hashed as sealed, so that destroying a key changes no leaf.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from struct import Struct
from typing import Any, Final
from uuid import UUID

from agent_runtime_client.proofs.merkle import leaf_hash

ENCODING_VERSION: Final = 1
_FIXED: Final = Struct(">Bq16sqq16s")
_LENGTH: Final = Struct(">q")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class UnreadableEntryError(ValueError):
    """The object is not an entry as the service exports it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The columns of an entry; ``state`` and ``metadata`` exactly as stored."""

    position: int
    aggregate_id: UUID
    version: int
    topic: str
    state: bytes
    recorded_at: datetime
    command_id: UUID
    metadata: str

    @property
    def leaf(self) -> bytes:
        fixed = _FIXED.pack(
            ENCODING_VERSION,
            self.position,
            self.aggregate_id.bytes,
            self.version,
            (self.recorded_at - _EPOCH) // _MICROSECOND,
            self.command_id.bytes,
        )
        texts = (self.topic.encode(), self.metadata.encode(), self.state)
        return leaf_hash(
            fixed + b"".join(_LENGTH.pack(len(text)) + text for text in texts)
        )


def entry_of(members: Mapping[str, Any]) -> Entry:
    """Read an entry from a line of an export, or from ``recorded``.

    :raises UnreadableEntryError: a field is missing or malformed, or the state is
        there twice
    """
    try:
        return Entry(
            position=_number(members["position"]),
            aggregate_id=UUID(members["aggregate_id"]),
            version=_number(members["version"]),
            topic=str(members["topic"]),
            state=_state(members),
            recorded_at=_time(members["recorded_at"]),
            command_id=UUID(members["command_id"]),
            metadata=str(members["metadata"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnreadableEntryError("not an entry of the log") from error


def _state(members: Mapping[str, Any]) -> bytes:
    if "state" in members and "state_base64" in members:
        raise UnreadableEntryError("the state twice")
    if "state" in members:
        return str(members["state"]).encode()
    return base64.b64decode(members["state_base64"], validate=True)


def _time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise UnreadableEntryError("a time without its offset from UTC")
    return time


def _number(value: Any) -> int:
    if type(value) is not int or not 0 < value < 2**63:
        raise UnreadableEntryError("not a number of the log")
    return value
