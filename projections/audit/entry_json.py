"""An entry of the log as JSON, from which its leaf can be hashed again.

``metadata`` and ``state`` are text exactly as stored; a state that isn't UTF-8 stands
in base64 as ``state_base64`` instead.
"""

import base64
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from service.event_log.stored_entries import StoredEntry


class UnreadableEntryError(ValueError):
    """The object is not an entry as :func:`recorded` writes it."""


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


def entry_of(members: Mapping[str, Any]) -> StoredEntry:
    """Read what :func:`recorded` returns, from JSON.

    :raises UnreadableEntryError: it isn't that
    """
    try:
        return StoredEntry(
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
    try:
        return base64.b64decode(members["state_base64"], validate=True)
    except ValueError:  # not only binascii.Error: also for what isn't ASCII
        raise UnreadableEntryError("the state is not base64") from None


def _time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise UnreadableEntryError("a time without its offset from UTC")
    return time


def _number(value: Any) -> int:
    if type(value) is not int or not 0 < value < 2**63:
        raise UnreadableEntryError("not a number of the log")
    return value
