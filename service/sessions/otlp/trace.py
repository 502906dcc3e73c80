"""Compute the turn of a trace: a pure function of its set of spans."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Final

from service.price_catalog.usage import ModelCallUsage
from service.sessions.otlp.layers import CALLS, counted_calls
from service.sessions.otlp.span import (
    REFUSED_SPANS,
    KeptEntry,
    KeptSpan,
    KeptText,
    ModelCall,
)
from service.sessions.turn import (
    ModelShare,
    PricedModelCall,
    TokenCounts,
    added,
    total_reported,
)

USAGE_FIELDS: Final = frozenset(field.name for field in fields(ModelCallUsage))


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceTexts:
    """The first input and the last output of a trace's spans, still encrypted.

    Those of spans with which no turn can begin.
    """

    input: KeptText | None = None
    output: KeptText | None = None


NO_TEXTS: Final = TraceTexts()


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceTurn:
    """The turn of a trace, with its texts still encrypted.

    ``texts`` replace those that its ``entry`` doesn't have.

    ``spans`` is the number of relevant spans. It grows with the set: of two turns of
    one trace, the one with more spans is newer, if both are from spans that are kept
    since the same position ``kept_since`` of the log.
    """

    trace_id: str
    entry_span_id: str
    session_id: str
    started_at: datetime
    ended_at: datetime
    entry: KeptEntry
    shares: tuple[ModelShare, ...]
    spans: int
    texts: TraceTexts
    kept_since: int | None = None
    # That its spans name.
    other_sessions: frozenset[str] = frozenset()

    @property
    def tokens(self) -> TokenCounts:
        return added([share.tokens for share in self.shares])

    @property
    def main_share(self) -> ModelShare | None:
        """Return the share of the model with the most tokens."""
        return max(
            self.shares,
            key=lambda share: (
                (share.tokens.prompt or 0) + (share.tokens.completion or 0),
                share.provider or "",
                share.model or "",
            ),
            default=None,
        )


def turn_of(
    trace_id: str,
    spans: Sequence[KeptSpan],
    texts: TraceTexts = NO_TEXTS,
    session_id: str | None = None,
) -> TraceTurn | None:
    """Return the turn of a trace, or None while its start or session is missing.

    A turn begins with the root span; in a trace that another service began, with the
    earliest span that was called from outside. Any span may name the session; the
    span where the turn begins has precedence, then the earliest one. A turn that has
    begun in the session ``session_id`` stays there.
    """
    ordered = sorted(spans, key=lambda span: span.sort_key)
    found = _begin(ordered)
    if found is None:
        return None
    begin, entry = found
    session_id = session_id or _named(begin, ordered)
    if session_id is None:
        return None
    names = {span.session_id for span in spans if span.session_id}
    return TraceTurn(
        trace_id=trace_id,
        entry_span_id=begin.span_id,
        session_id=session_id,
        started_at=datetime.fromisoformat(begin.started_at),
        ended_at=_end(entry, ordered),
        entry=_with_failure(entry, ordered),
        shares=_shares(ordered),
        spans=sum(1 for span in spans if span.counts),
        texts=texts,
        other_sessions=frozenset(names - {session_id}),
    )


def first_session(exports: Sequence[Mapping[str, KeptSpan]]) -> str | None:
    """Return the session in which a trace became a turn before its last export.

    ``exports`` are spans by id, in the order in which they arrived. None: it became a
    turn with the last one, or not yet.
    """
    known: dict[str, KeptSpan] = {}
    has_entry = names_session = False
    for export in exports[:-1]:
        for span_id, span in export.items():
            known.setdefault(span_id, span)
            has_entry = has_entry or span.entry is not None
            names_session = names_session or span.session_id is not None
        if has_entry and names_session:
            ordered = sorted(known.values(), key=lambda span: span.sort_key)
            found = _begin(ordered)
            return found and _named(found[0], ordered)
    return None


def _begin(ordered: Sequence[KeptSpan]) -> tuple[KeptSpan, KeptEntry] | None:
    entries = [(span, span.entry) for span in ordered if span.entry is not None]
    # Roots sort before spans that were called from outside.
    return min(
        entries,
        key=lambda found: (not found[1].is_root, found[0].sort_key),
        default=None,
    )


def _with_failure(entry: KeptEntry, spans: Sequence[KeptSpan]) -> KeptEntry:
    """Return an entry that has failed if an event of the turn tells so."""
    entries = (span.entry for span in spans if span.entry is not None)
    has_failed = any(each.is_event and each.is_error for each in entries)
    return replace(entry, is_error=entry.is_error or has_failed)


def _end(entry: KeptEntry, spans: Sequence[KeptSpan]) -> datetime:
    # Events tell no end, and the root span of their program may end before them.
    own = datetime.fromisoformat(entry.ended_at)
    entries = [span.entry for span in spans if span.entry is not None]
    if not any(each.is_event for each in entries):
        return own
    ends = [
        datetime.fromisoformat(span.ended_at or span.started_at)
        for span in spans
        if span.has_texts or (span.entry is not None and span.entry.is_event)
    ]
    return max(own, *ends)


def _named(begin: KeptSpan, ordered: Sequence[KeptSpan]) -> str | None:
    named = (span.session_id for span in (begin, *ordered) if span.session_id)
    return next(named, None)


def _shares(ordered: Sequence[KeptSpan]) -> tuple[ModelShare, ...]:
    """Sum up the model calls of each model, in the order of their first call."""
    of_model: defaultdict[
        tuple[str | None, str | None], list[tuple[datetime, ModelCall]]
    ]
    of_model = defaultdict(list)
    lacks_spans = any(span.span_id == REFUSED_SPANS for span in ordered)
    for counted in counted_calls(ordered):
        call = counted.whole()
        if lacks_spans:
            call = replace(call, untold=(*call.untold, CALLS))
        of_model[call.provider, call.model].append((counted.started_at, call))
    if lacks_spans and not of_model:
        return (_UNKNOWN_USE,)
    return tuple(
        ModelShare(
            provider=provider,
            model=model,
            tokens=added([_tokens(call) for _, call in calls]),
            calls=tuple(
                PricedModelCall(at, _usage(call), call.asked_model)
                for at, call in calls
            ),
            reported_cost=total_reported([call.reported_cost for _, call in calls]),
        )
        for (provider, model), calls in of_model.items()
    )


# The use of a trace without room for any span of its model calls: its cost is unknown.
_UNKNOWN_USE: Final = ModelShare(
    provider=None,
    model=None,
    tokens=TokenCounts(),
    calls=(PricedModelCall(datetime(1970, 1, 1, tzinfo=UTC), ModelCallUsage()),),
)


def _tokens(call: ModelCall) -> TokenCounts:
    return TokenCounts(
        prompt=call.prompt_tokens,
        completion=call.completion_tokens,
        cache_read=call.cache_read_tokens,
        cache_creation=call.cache_creation_tokens,
    )


def _usage(call: ModelCall) -> ModelCallUsage:
    known = {name: n for name, n in call.details.items() if name in USAGE_FIELDS}
    return ModelCallUsage(
        input_tokens=call.prompt_tokens,
        output_tokens=call.completion_tokens,
        cache_read_tokens=call.cache_read_tokens,
        cache_write_tokens=call.cache_creation_tokens,
        total_tokens=call.total_tokens,
        **known,
        others={name: n for name, n in call.details.items() if name not in known},
        conditions=call.conditions,
        untold=tuple(call.untold),
    )
