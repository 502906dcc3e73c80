"""Compares what stands beside a recorded entry with what the entry says."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

TRACEPARENT_PARTS: Final = 4


def contradicted_member(
    members: Mapping[str, Any], recorded: Mapping[str, Any]
) -> str | None:
    """Return the first member that isn't what an entry's recorded fields say.

    ``recorded`` has a leaf; in a line of an export it is the line itself. Names,
    sentences and changes don't follow from one entry. Members that are missing
    contradict nothing.
    """
    topic = str(recorded["topic"])
    derived: dict[str, Any] = {
        **_authorship(str(recorded["metadata"])),
        "kind": topic,
        "position": recorded["position"],
        "version": recorded["version"],
    }
    for name, value in derived.items():
        if name in members and members[name] != value:
            return name
    if "recorded_at" in members and not _is_same_time(
        members["recorded_at"], recorded["recorded_at"]
    ):
        return "recorded_at"
    if "resource" in members:
        shown = members["resource"]
        if not isinstance(shown, Mapping):
            return "resource"
        aggregate_id = str(UUID(recorded["aggregate_id"]))
        if (shown.get("kind"), shown.get("id")) != (
            topic.partition(".")[0],
            aggregate_id,
        ):
            return "resource"
    return None


def _authorship(metadata: str) -> dict[str, str | None]:
    """Read who caused an entry, also if its metadata is damaged."""
    try:
        members = json.loads(metadata)
    except (ValueError, RecursionError):
        members = {}
    if not isinstance(members, dict):
        members = {}

    def text(name: str) -> str | None:
        value = members.get(name)
        return value if isinstance(value, str) and value else None

    actor, token = text("actor"), text("token")
    traceparent = (text("traceparent") or "").split("-")
    found = {
        "actor_id": _id(actor),
        "token_id": _id(token),
        "request_id": text("request_id"),
        "trace_id": traceparent[1] if len(traceparent) == TRACEPARENT_PARTS else None,
        "address": text("address"),
    }
    # For others than users, the name is the one recorded.
    return found if found["actor_id"] else {**found, "actor": actor}


def _is_same_time(text: Any, recorded: str) -> bool:
    if text == recorded:
        return True
    try:
        return datetime.fromisoformat(text) == datetime.fromisoformat(recorded)
    except (TypeError, ValueError):
        return False


def _id(text: str | None) -> str | None:
    return text if text and _ID.fullmatch(text) else None


_ID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
