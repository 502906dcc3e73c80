"""The author of an entry, from the log's metadata."""

import re
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

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


def _uuid(text: str | None) -> UUID | None:
    return UUID(text) if text and _ID.fullmatch(text) else None


_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
