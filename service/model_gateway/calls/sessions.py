"""Which conversation a model call belongs to, by what clients send."""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

import orjson

from service.http.trace_context import TraceContext

# Claude Code, Codex, opencode, and clients that were set up for LiteLLM; in this order.
HEADERS: Final = (
    "X-Session-Id",
    "X-Claude-Code-Session-Id",
    "Session-Id",
    "Session_Id",
    "X-Session-Affinity",
    "X-LiteLLM-Session-Id",
    "Thread-Id",
    "Conversation_Id",
)
# What a client sends in the body for the same purpose.
MEMBERS: Final = ("conversation", "prompt_cache_key")


def session_of(headers: Mapping[str, str], members: Mapping[str, Any]) -> str | None:
    """Return the session that a call names; None if it names none."""
    named = TraceContext.of({}, headers).session_id
    if named is not None:
        return named
    found = [headers.get(name) for name in HEADERS]
    metadata = members.get("metadata")
    if isinstance(metadata, dict):
        found += [_of_user(metadata.get("user_id")), metadata.get("session_id")]
    for name in MEMBERS:
        value = members.get(name)
        found.append(value.get("id") if isinstance(value, dict) else value)
    return next(filter(_is_session, found), None)


def conversation_of(members: Mapping[str, Any]) -> str | None:
    """Return what all calls of a conversation begin with, for one that names none.

    That is a digest of the messages up to the first of its user's.
    """
    said = members.get("messages", members.get("input"))
    if isinstance(said, list):
        said = list(_to_first_of_user(said))
    if not said:
        return None
    system = members.get("system", members.get("instructions"))
    try:
        return sha256(orjson.dumps([system, said])).hexdigest()
    # Half of a surrogate pair is no text.
    except orjson.JSONEncodeError:
        return None


def _to_first_of_user(messages: list[Any]) -> Any:
    for message in messages:
        yield message
        if isinstance(message, dict) and message.get("role") == "user":
            return


def _of_user(user_id: object) -> str | None:
    """Return the session in what Claude Code sends as the user: JSON, or a suffix."""
    if not isinstance(user_id, str):
        return None
    try:
        document = orjson.loads(user_id)
    except orjson.JSONDecodeError:
        found = _SUFFIX.search(user_id)
        return found[1] if found else None
    found = document.get("session_id") if isinstance(document, dict) else None
    return found if isinstance(found, str) else None


def _is_session(found: object) -> bool:
    return isinstance(found, str) and _SESSION.fullmatch(found) is not None


_SESSION: Final = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,128}")
_SUFFIX: Final = re.compile(r"_session_([0-9a-f-]{36})$")
