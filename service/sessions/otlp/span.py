"""The parts of a span that concern a turn."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from typing import Any, Final, Self

from service.sessions.turn import Texts


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """A model call that a span describes; counts are None if they weren't reported.

    ``is_total``: the span sums up others, such as an agent's run, so its tokens may be
    counted in those, too. ``details`` and ``conditions`` are named as in
    ``service.price_catalog.usage.ModelCallUsage``. ``scope`` is the instrumentation,
    and ``response_id`` the provider's id of the answer: two instrumentations of one
    model call tell the same id. ``reported_cost`` is the cost in US dollars that the
    provider or the instrumentation reports. ``untold`` names what the instrumentation
    doesn't tell for certain. ``is_stream_log``: the span tells the usage of a stream
    whose call is a span beside it. ``total_tokens`` is the total that is told, if it
    contradicts the input and the output.
    """

    provider: str | None
    model: str | None
    asked_model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    is_total: bool
    # With defaults: traces that an earlier version kept don't have them.
    details: Mapping[str, int] = field(default_factory=dict)
    conditions: Mapping[str, str] = field(default_factory=dict)
    response_id: str | None = None
    scope: str = ""
    reported_cost: str | None = None
    untold: Sequence[str] = field(default_factory=tuple)
    is_stream_log: bool = False
    total_tokens: int | None = None

    @property
    def has_usage(self) -> bool:
        """Whether it tells tokens: some instrumentations write 0 for unknown ones."""
        return bool(self.prompt_tokens or self.completion_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Times, texts and outcome of a span with which a turn can begin.

    ``is_root`` is False if its parent is in the calling service. ``user`` is the id or
    the name of the session's user. ``is_event``: the turn ends with its last span.
    """

    is_root: bool
    ended_at: datetime
    user: str | None
    is_error: bool
    texts: Texts
    is_event: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SpanTexts:
    """Texts of a span, for a turn whose first span has none.

    ``input_is_plain``, ``output_is_plain``: the text is what somebody wrote, rather
    than the JSON of a request or an answer.
    """

    input: str | None = None
    input_is_plain: bool = False
    output: str | None = None
    output_is_plain: bool = False

    @property
    def is_shown(self) -> bool:
        return self.input is not None or self.output is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedSpan:
    """A span of a trace; ``parent_id`` is empty for a root.

    ``texts`` are those of a span with which no turn can begin.
    """

    trace_id: str
    span_id: str
    parent_id: str
    started_at: datetime
    ended_at: datetime
    session_id: str | None
    entry: Entry | None
    call: ModelCall | None
    texts: SpanTexts

    @property
    def sort_key(self) -> tuple[datetime, str]:
        """Order the spans of a trace independently of their arrival."""
        return self.started_at, self.span_id

    @property
    def is_relevant(self) -> bool:
        return bool(self.session_id or self.entry or self.call or self.texts.is_shown)


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
    # Traces that an earlier version kept don't have it.
    is_event: bool = False

    @property
    def size(self) -> int:
        """The length of all texts."""
        sealed = (self.sealed_input, self.sealed_output, self.sealed_error)
        return sum(map(len, filter(None, sealed)))


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptText:
    """The best text of a trace's spans so far, encrypted with the key of ``owner``.

    ``order`` decides which of two texts is better.
    """

    order: str
    span_id: str
    owner: str
    sealed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSpan:
    """A :class:`ReportedSpan` as stored; times are ISO 8601 in UTC."""

    span_id: str
    parent_id: str
    started_at: str
    session_id: str | None
    entry: KeptEntry | None
    call: ModelCall | None
    # None and False for spans that an earlier version kept.
    ended_at: str | None = None
    has_texts: bool = False

    @property
    def sort_key(self) -> tuple[datetime, str]:
        return datetime.fromisoformat(self.started_at), self.span_id

    @property
    def counts(self) -> bool:
        """Whether a turn with this span is more complete than one without it."""
        return bool(self.entry or self.call or self.has_texts)

    def to_json(self) -> dict[str, Any]:
        """Return all but the span's id, which is its key."""
        kept = asdict(self)
        del kept["span_id"]
        # A process of the version before reads spans, too.
        if kept["entry"] is not None and not kept["entry"]["is_event"]:
            del kept["entry"]["is_event"]
        return kept

    @classmethod
    def from_json(cls, span_id: str, kept: dict[str, Any]) -> Self:
        entry, call = kept["entry"], kept["call"]
        return cls(
            span_id=span_id,
            parent_id=kept["parent_id"],
            started_at=kept["started_at"],
            session_id=kept["session_id"],
            entry=KeptEntry(**_known(entry, _ENTRY)) if entry else None,
            call=ModelCall(**_known(call, _CALL)) if call else None,
            ended_at=kept.get("ended_at"),
            has_texts=kept.get("has_texts", False),
        )


_ENTRY: Final = frozenset(each.name for each in fields(KeptEntry))
_CALL: Final = frozenset(each.name for each in fields(ModelCall))


def _known(kept: dict[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """Leave out what only a process of a later version knows."""
    if kept.keys() <= names:
        return kept
    return {name: kept[name] for name in names & kept.keys()}


# In the place of spans for which their trace has no room: its usage isn't whole.
REFUSED_SPANS: Final = "refused"


def refused_spans(started_at: str) -> KeptSpan:
    """Return what a trace keeps of spans for which it has no room."""
    return KeptSpan(
        span_id=REFUSED_SPANS,
        parent_id="",
        started_at=started_at,
        session_id=None,
        entry=None,
        call=None,
        # A turn that is known to lack spans is newer than one that isn't.
        has_texts=True,
    )


def kept_span(span: ReportedSpan, entry: KeptEntry | None) -> KeptSpan:
    """Return a span as it is stored, with its encrypted ``entry``."""
    return KeptSpan(
        span_id=span.span_id,
        parent_id=span.parent_id,
        started_at=span.started_at.isoformat(),
        ended_at=span.ended_at.isoformat(),
        session_id=span.session_id,
        entry=entry,
        call=span.call,
        has_texts=span.texts.is_shown,
    )
