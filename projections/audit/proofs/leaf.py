"""The canonical bytes of a log entry, which a leaf of the tree hashes.

In this order, integers as 8 bytes with sign, big-endian::

    1 byte    0x01, the version of this encoding
    8 bytes   position; the leaf's index is one less
    16 bytes  aggregate id
    8 bytes   version
    8 bytes   recorded_at, in microseconds since 1970-01-01T00:00:00Z
    16 bytes  command id
    8 bytes   length of the topic, then the topic in UTF-8
    8 bytes   length of the metadata, then the metadata in UTF-8, as stored
    8 bytes   length of the state, then the state, as stored

Every column of the log is in it, and nothing else. What is sealed is hashed as
sealed, so that destroying a key changes no leaf.
"""

from datetime import UTC, datetime, timedelta
from struct import Struct

from projections.audit.proofs.merkle import leaf_hash
from service.event_log.stored_entries import StoredEntry

ENCODING_VERSION = 1

_FIXED = Struct(">Bq16sqq16s")
_LENGTH = Struct(">q")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def leaf_bytes(entry: StoredEntry) -> bytes:
    """Encode an entry."""
    topic = entry.topic.encode()
    metadata = entry.metadata.encode()
    return b"".join(
        (
            _FIXED.pack(
                ENCODING_VERSION,
                entry.position,
                entry.aggregate_id.bytes,
                entry.version,
                (entry.recorded_at - _EPOCH) // _MICROSECOND,
                entry.command_id.bytes,
            ),
            _LENGTH.pack(len(topic)),
            topic,
            _LENGTH.pack(len(metadata)),
            metadata,
            _LENGTH.pack(len(entry.state)),
            entry.state,
        )
    )


def hash_of(entry: StoredEntry) -> bytes:
    """Return the entry's leaf of the tree."""
    return leaf_hash(leaf_bytes(entry))
