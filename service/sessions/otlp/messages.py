"""Texts of messages in the GenAI conventions.

Messages are JSON: ``[{"role": "user", "parts": [{"type": "text", "content": ...}]}]``.
Other formats are returned unchanged.
"""

from collections.abc import Iterator
from typing import Any

import orjson


def last_text(messages: str, *, role: str) -> str:
    """Return the text of a role's last message that has one."""
    found = [
        text
        for message in _messages(messages)
        if message.get("role") == role and (text := _text(message))
    ]
    return found[-1] if found else messages


def all_texts(messages: str) -> str:
    """Return the texts of all messages, joined by line breaks."""
    found = [text for message in _messages(messages) if (text := _text(message))]
    return "\n".join(found) or messages


def _messages(text: str) -> Iterator[dict[str, Any]]:
    try:
        parsed = orjson.loads(text)
    except orjson.JSONDecodeError:
        return
    for message in parsed if isinstance(parsed, list) else [parsed]:
        if isinstance(message, dict):
            yield message


def _text(message: dict[str, Any]) -> str:
    if isinstance(message.get("content"), str):
        return str(message["content"])
    parts = message.get("parts")
    return "\n".join(
        part["content"]
        for part in (parts if isinstance(parts, list) else [])
        if isinstance(part, dict)
        and part.get("type") == "text"
        and isinstance(part.get("content"), str)
    )
