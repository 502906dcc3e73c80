"""The author of an entry, from the log's metadata."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from service.event_log.stored_entries import StoredEntry

TRACEPARENT_PARTS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorship:
    """Fields are None where the metadata lacks them; ``actor`` may be ``system``."""

    actor: str | None
    token: str | None
    request_id: str | None
    address: str | None
    trace_id: str | None

    @property
    def actor_id(self) -> UUID | None:
        return _uuid(self.actor)

    @property
    def token_id(self) -> UUID | None:
        return _uuid(self.token)


def authorship(metadata: str) -> Authorship:
    """Read the metadata of an entry, also if it is damaged."""
    try:
        members = orjson.loads(metadata)
    except orjson.JSONDecodeError:
        members = {}
    if not isinstance(members, dict):
        members = {}
    parts = (_text(members, "traceparent") or "").split("-")
    return Authorship(
        actor=_text(members, "actor"),
        token=_text(members, "token"),
        request_id=_text(members, "request_id"),
        address=_text(members, "address"),
        trace_id=parts[1] if len(parts) == TRACEPARENT_PARTS else None,
    )


def _text(members: dict[str, Any], name: str) -> str | None:
    value = members.get(name)
    return value if isinstance(value, str) and value else None


def contradicted_member(entry: StoredEntry, members: Mapping[str, Any]) -> str | None:
    """Return the first member beside an exported entry that isn't what the log holds.

    Of those that follow from the entry itself; names and sentences don't. None if there
    is none; members that an export lacks are not missed.
    """
    author = authorship(entry.metadata)
    derived: dict[str, Any] = {
        "actor_id": _as_text(author.actor_id),
        "token_id": _as_text(author.token_id),
        "request_id": author.request_id,
        "trace_id": author.trace_id,
        "address": author.address,
        "kind": entry.topic,
    }
    if author.actor_id is None:
        derived["actor"] = author.actor
    for name, value in derived.items():
        if name in members and members[name] != value:
            return name
    if "resource" in members:
        resource = members["resource"]
        kind = entry.topic.partition(".")[0]
        shown = (
            (resource.get("kind"), resource.get("id"))
            if isinstance(resource, dict)
            else None
        )
        if shown != (kind, str(entry.aggregate_id)):
            return "resource"
    return None


def _uuid(text: str | None) -> UUID | None:
    return UUID(text) if text and _ID.fullmatch(text) else None


def _as_text(value: UUID | None) -> str | None:
    return None if value is None else str(value)


_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
