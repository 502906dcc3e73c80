"""Compare what stands beside a recorded entry with what the entry says."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from agent_runtime_client.proofs.entry import Entry

TRACEPARENT_PARTS: Final = 4


def contradicted_member(members: Mapping[str, Any], entry: Entry) -> str | None:
    """Return the first member that isn't what an entry says; None if there is none.

    Names, sentences and changes don't follow from one entry. Members that are missing
    contradict nothing.
    """
    derived: dict[str, Any] = {
        **_author(entry.metadata),
        "kind": entry.topic,
        "position": entry.position,
        "version": entry.version,
    }
    for name, value in derived.items():
        if name in members and members[name] != value:
            return name
    if "recorded_at" in members:
        said = members["recorded_at"]
        if not isinstance(said, str) or _time(said) != entry.recorded_at:
            return "recorded_at"
    if "resource" in members:
        shown = members["resource"]
        if not isinstance(shown, Mapping):
            return "resource"
        kind = entry.topic.partition(".")[0]
        if (shown.get("kind"), shown.get("id")) != (kind, str(entry.aggregate_id)):
            return "resource"
    return None


def _author(metadata: str) -> dict[str, str | None]:
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

    actor = text("actor")
    traceparent = (text("traceparent") or "").split("-")
    author = {
        "actor_id": _id(actor),
        "token_id": _id(text("token")),
        "request_id": text("request_id"),
        "trace_id": traceparent[1] if len(traceparent) == TRACEPARENT_PARTS else None,
        "address": text("address"),
    }
    # For others than users, the name is the one recorded.
    return author if author["actor_id"] else {**author, "actor": actor}


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _id(text: str | None) -> str | None:
    return text if text and _ID.fullmatch(text) else None


_ID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
