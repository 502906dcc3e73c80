"""The W3C trace context of a call, and the session that its baggage names."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self
from urllib.parse import unquote

from service.http.telemetry import valid_traceparent

# As OpenTelemetry names a session, and the conversation with a model.
SESSIONS: Final = ("session.id", "gen_ai.conversation.id")
KEYS: Final = ("traceparent", "tracestate", "baggage")
CHARACTERS_MAX: Final = 8192


@dataclass(frozen=True, slots=True)
class TraceContext:
    """The context of a message, in ``_meta``, and that of its HTTP request."""

    of_message: Mapping[str, str]
    of_http: Mapping[str, str]

    @classmethod
    def of(cls, meta: Mapping[str, Any], headers: Mapping[str, str]) -> Self:
        return cls(_valid(meta), _valid(headers))

    @property
    def sent(self) -> dict[str, str]:
        """The trace context for the upstream: the message's, or else that of HTTP."""
        merged = {**self.of_http, **self.of_message}
        if "traceparent" in self.of_message and "tracestate" not in self.of_message:
            # A tracestate belongs to the traceparent beside it.
            merged.pop("tracestate", None)
        return merged

    @property
    def trace_id(self) -> str | None:
        traceparent = self.sent.get("traceparent")
        return traceparent.split("-")[1] if traceparent else None

    @property
    def session_id(self) -> str | None:
        """The session that the baggage names; None for what can't be one's id."""
        baggage = self.sent.get("baggage")
        if baggage is None:
            return None
        members: dict[str, str] = {}
        for member in baggage.split(","):
            name, _, value = member.partition(";")[0].partition("=")
            members.setdefault(name.strip(), unquote(value.strip()))
        named = (members[name] for name in SESSIONS if name in members)
        return next(filter(_SESSION.fullmatch, named), None)


def _valid(carrier: Mapping[str, Any]) -> dict[str, str]:
    found = {
        key: value
        for key in KEYS
        if isinstance(value := carrier.get(key), str)
        and len(value) <= CHARACTERS_MAX
        # A header may have bytes that are no text, which no JSON can hold.
        and (value.isascii() or value.isprintable())
    }
    if valid_traceparent(found.get("traceparent")) is None:
        found.pop("traceparent", None)
        found.pop("tracestate", None)
    return found


_SESSION: Final = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,128}")
