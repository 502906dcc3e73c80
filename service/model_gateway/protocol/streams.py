"""Streams of three dialects: which events matter, and how a cut one ends."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

import orjson

from service.model_gateway.calls.figures import Figures
from service.model_gateway.dialects import Dialect
from service.model_gateway.protocol.endpoints import Api
from service.model_gateway.protocol.errors import error_body
from service.model_gateway.protocol.limited import is_of_provider
from service.model_gateway.protocol.usage import PLACES, figures_of
from service.upstream_http.event_scanner import EventScanner, Marker

ERROR: Final = Marker(b'"error"')
# No set: what a provider sends as a type may have no hash.
LAST_OF_RESPONSE: Final = (
    "response.completed",
    "response.failed",
    "response.incomplete",
)
# What of a document its figures are read of.
NAMES: Final = ("model", "id")
FIGURES: Final = (*NAMES, "usage", "service_tier")
# Of a message's usage; what else it has isn't kept.
OF_MESSAGE: Final = {
    *(
        path[0]
        for paths in PLACES[Dialect.ANTHROPIC_MESSAGES].values()
        for path in paths
    ),
    *("service_tier", "speed"),
}
# What a message's beginning tells of its end is no count of it.
UNFINISHED: Final = {"output_tokens", "output_tokens_details"}
# Of a response that has begun, what one that has failed repeats.
OF_RESPONSE: Final = (
    "id",
    "object",
    "created_at",
    "model",
    "metadata",
    "parallel_tool_calls",
    "previous_response_id",
    "tool_choice",
)


class ModelStream(ABC):
    """Examines the events of one stream that have one of the ``markers``.

    ``has_ended`` once its last event has come, or an error that ends it: then
    ``has_error``, and ``has_failed`` if that says that the provider can't answer now.
    ``response_id`` is the provider's, where the dialect has one to come back to.
    Events with ``numbered`` say how many there were, where the dialect counts them.
    ``named_last`` finds the last one by its name, where that one may be large.
    """

    dialect: ClassVar[Dialect]
    markers: ClassVar[Sequence[Marker]]
    numbered: ClassVar[bytes] = b""
    named_last: ClassVar[re.Pattern[bytes] | None] = None

    def __init__(self) -> None:
        self.has_ended = False
        self.has_error = False
        self.has_failed = False
        self.response_id: str | None = None
        self._said: dict[str, Any] = {}

    @property
    def figures(self) -> Figures:
        """What the events have said of the whole answer until now."""
        return figures_of(self.dialect, self._said)

    def _keep(self, said: Mapping[str, Any], names: Iterable[str] = FIGURES) -> None:
        """Keep what figures are read of; reading them is for the end of a stream."""
        for name in names:
            if value := said.get(name):
                self._said[name] = value

    def examine(self, event: bytes) -> bool:
        """Take in an event; return whether the client gets it."""
        document = _document(event)
        if isinstance(document, dict):
            return self._takes(document)
        # Clients may be able to read it: its text has half a surrogate, or it is deep.
        if self.named_last and (last := self.named_last.search(event)):
            self.has_ended = True
            self.has_error = last[1] == b"failed"
        return True

    @abstractmethod
    def _takes(self, document: dict[str, Any]) -> bool: ...

    @abstractmethod
    def failure(self, message: str, last: bytes, /) -> bytes:
        """Return the event by which a stream fails; ``last`` has the last number.

        Empty for a dialect that has none: then the connection must not end as if the
        stream had.
        """


class ChatStream(ModelStream):
    """Chat completions; ``withholds_usage`` that the client hasn't asked for."""

    dialect = Dialect.OPENAI_CHAT
    markers = (Marker(b'"usage"', unless=b'"usage":null'), Marker(b"[DONE]"), ERROR)

    def __init__(self, *, withholds_usage: bool = False) -> None:
        super().__init__()
        self._withholds_usage = withholds_usage
        self._has_whole_usage = False

    @property
    def figures(self) -> Figures:
        """What is known of the whole; some providers count up to each chunk."""
        figures = super().figures
        if self._has_whole_usage or (self.has_ended and not self.has_error):
            return figures
        return replace(figures, usage=None)

    def examine(self, event: bytes) -> bool:
        if _data(event).strip() == b"[DONE]":
            self.has_ended = True
            return True
        return super().examine(event)

    def _takes(self, document: dict[str, Any]) -> bool:
        self._keep(document)
        if document.get("usage"):
            self._has_whole_usage = not _goes_on(document.get("choices"))
        if document.get("error") is not None and not document.get("choices"):
            self.has_ended = self.has_error = True
            self.has_failed = is_of_provider(document["error"])
        # Azure's first event has no choices either, and is the client's.
        is_usage = document.get("choices") == [] and document.get("usage") is not None
        return not (is_usage and self._withholds_usage)

    def failure(self, _message: str, _last: bytes, /) -> bytes:
        return b""


class ResponsesStream(ModelStream):
    """Responses."""

    dialect = Dialect.OPENAI_RESPONSES
    markers = (Marker(b'"response"'), ERROR)
    numbered = b'"sequence_number"'
    named_last = re.compile(
        rb"^event: ?response\.(completed|failed|incomplete)\r?$", re.MULTILINE
    )

    def __init__(self) -> None:
        super().__init__()
        self._response: dict[str, Any] = {}

    def _takes(self, document: dict[str, Any]) -> bool:
        kind, response = document.get("type"), document.get("response")
        if isinstance(response, dict):
            self._response = {
                name: response[name] for name in OF_RESPONSE if name in response
            }
            found = response.get("id")
            self.response_id = found if isinstance(found, str) else None
            self._keep(response, FIGURES if kind in LAST_OF_RESPONSE else NAMES)
        if kind in LAST_OF_RESPONSE or kind == "error":
            self.has_ended = True
            self.has_error = kind in ("response.failed", "error")
            failed = response if isinstance(response, dict) else document
            # The event of an error has its members itself.
            self.has_failed = is_of_provider(failed.get("error") or document)
        return True

    def failure(self, message: str, last: bytes, /) -> bytes:
        numbers = _SEQUENCE.findall(last)
        event = {
            "type": "response.failed",
            "sequence_number": int(numbers[-1]) + 1 if numbers else 0,
            "response": {
                **self._response,
                "status": "failed",
                "error": {"code": "server_error", "message": message},
                "output": [],
                "usage": None,
            },
        }
        return _event("response.failed", event)


class MessagesStream(ModelStream):
    """Anthropic messages."""

    dialect = Dialect.ANTHROPIC_MESSAGES
    markers = (Marker(b"message_"), ERROR)

    def _takes(self, document: dict[str, Any]) -> bool:
        kind = document.get("type")
        if kind == "message_start" and isinstance(document.get("message"), dict):
            message = document["message"]
            self._keep(message, NAMES)
            self._count(message.get("usage"), OF_MESSAGE - UNFINISHED)
        elif kind == "message_delta":
            self._count(document.get("usage"), OF_MESSAGE)
        if kind in ("message_stop", "error"):
            self.has_ended = True
            self.has_error = kind == "error"
            self.has_failed = is_of_provider(document.get("error"))
        return True

    def _count(self, usage: Any, names: Iterable[str]) -> None:
        """Take in counts of the whole message until then, which may not be all."""
        if isinstance(usage, dict):
            known = {name: usage[name] for name in names if usage.get(name) is not None}
            self._said["usage"] = {**self._said.get("usage", {}), **known}

    def failure(self, message: str, _last: bytes, /) -> bytes:
        body = error_body(Api.ANTHROPIC, 500, message, code="no_answer")
        return _event("error", body)


def has_failed_at_once(dialect: Dialect, beginning: bytes) -> bool:
    """Whether a stream's first bytes say that the provider can't answer now."""
    stream = stream_of(dialect, withholds_usage=False)
    if stream is None:
        return False
    EventScanner(stream.markers, stream.examine).feed(beginning)
    return stream.has_failed


def stream_of(dialect: Dialect, *, withholds_usage: bool) -> ModelStream | None:
    """Return what examines a stream; None for a dialect that has none."""
    match dialect:
        case Dialect.OPENAI_CHAT:
            return ChatStream(withholds_usage=withholds_usage)
        case Dialect.OPENAI_RESPONSES:
            return ResponsesStream()
        case Dialect.ANTHROPIC_MESSAGES:
            return MessagesStream()
    return None


def _goes_on(choices: Any) -> bool:
    """Whether a chunk of chat says of one of its choices that more of it comes."""
    return isinstance(choices, list) and any(
        isinstance(each, dict) and each.get("finish_reason") is None for each in choices
    )


def _document(event: bytes) -> Any:
    try:
        return orjson.loads(_data(event))
    except orjson.JSONDecodeError:
        return None


def _data(event: bytes) -> bytes:
    """Return the data of an event: its lines of data, joined."""
    # https://html.spec.whatwg.org/multipage/server-sent-events.html
    lines = [
        line[5:].removeprefix(b" ")
        for line in _LINE_END.split(event)
        if line.startswith(b"data:")
    ]
    return b"\n".join(lines)


def _event(kind: str, document: dict[str, Any]) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), orjson.dumps(document))


_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_SEQUENCE: Final = re.compile(rb'"sequence_number": ?([0-9]{1,15})')
