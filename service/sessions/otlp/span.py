"""The parts of a span that concern a turn."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Self

from service.sessions.turn import Texts


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """The tokens of a span.

    ``is_total``: the span sums up others, such as an agent's run, so its tokens may
    be counted in those, too.
    """

    provider: str | None
    model: str | None
    asked_model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    is_total: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Times, texts and outcome of a span with which a turn can begin.

    ``is_root`` is False if its parent is in the calling service. ``user`` is the id or
    the name of the session's user.
    """

    is_root: bool
    ended_at: datetime
    user: str | None
    is_error: bool
    texts: Texts


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedSpan:
    """A span of a trace; ``parent_id`` is empty for a root."""

    trace_id: str
    span_id: str
    parent_id: str
    started_at: datetime
    session_id: str | None
    entry: Entry | None
    call: ModelCall | None

    @property
    def sort_key(self) -> tuple[datetime, str]:
        """Order the spans of a trace independently of their arrival."""
        return self.started_at, self.span_id

    @property
    def is_relevant(self) -> bool:
        return bool(self.session_id or self.entry or self.call)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptEntry:
    """An :class:`Entry` as stored while its trace is open.

    Texts are encrypted with the key of ``owner``, bound to the trace and the span.
    """

    is_root: bool
    ended_at: str
    user_id: str | None
    is_error: bool
    owner: str
    sealed_input: str | None
    sealed_output: str | None
    sealed_error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSpan:
    """A :class:`ReportedSpan` as stored; times are ISO 8601 in UTC."""

    span_id: str
    parent_id: str
    started_at: str
    session_id: str | None
    entry: KeptEntry | None
    call: ModelCall | None

    @property
    def sort_key(self) -> tuple[datetime, str]:
        return datetime.fromisoformat(self.started_at), self.span_id

    def to_json(self) -> dict[str, Any]:
        """Return all but the span's id, which is its key."""
        kept = asdict(self)
        del kept["span_id"]
        return kept

    @classmethod
    def from_json(cls, span_id: str, kept: dict[str, Any]) -> Self:
        entry, call = kept["entry"], kept["call"]
        return cls(
            span_id=span_id,
            parent_id=kept["parent_id"],
            started_at=kept["started_at"],
            session_id=kept["session_id"],
            entry=KeptEntry(**entry) if entry else None,
            call=ModelCall(**call) if call else None,
        )
