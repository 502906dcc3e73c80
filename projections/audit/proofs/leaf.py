"""The leaf of an entry as the log stores it."""

from agent_runtime_client.proofs.entry import Entry
from service.event_log.stored_entries import StoredEntry


def hash_of(entry: StoredEntry) -> bytes:
    """Return the entry's leaf of the tree."""
    return Entry(
        position=entry.position,
        aggregate_id=entry.aggregate_id,
        version=entry.version,
        topic=entry.topic,
        state=entry.state,
        recorded_at=entry.recorded_at,
        command_id=entry.command_id,
        metadata=entry.metadata,
    ).leaf
