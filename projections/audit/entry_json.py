"""An entry of the log as JSON, from which its leaf can be hashed again.

``metadata`` and ``state`` are text exactly as stored; a state that isn't UTF-8 stands
in base64 as ``state_base64`` instead.
"""

import base64
from typing import Any

from service.event_log.stored_entries import StoredEntry


def recorded(entry: StoredEntry) -> dict[str, Any]:
    """Return an entry as the log stores it."""
    members: dict[str, Any] = {
        "position": entry.position,
        "recorded_at": entry.recorded_at,
        "aggregate_id": entry.aggregate_id,
        "version": entry.version,
        "topic": entry.topic,
        "command_id": entry.command_id,
        "metadata": entry.metadata,
    }
    try:
        members["state"] = entry.state.decode()
    except UnicodeDecodeError:
        members["state_base64"] = base64.b64encode(entry.state).decode()
    return members
