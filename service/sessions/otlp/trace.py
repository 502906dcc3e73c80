"""The spans of a trace to a turn: a function of the set of spans alone."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from service.sessions.otlp.span import KeptEntry, KeptSpan, ModelCall
from service.sessions.turn import ModelShare, TokenCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceTurn:
    """What the spans of a trace come to, but for the texts of its ``entry``.

    ``spans`` is how many of them matter. It grows with the set, so that of two of
    these about one trace the one with more is the newer.
    """

    trace_id: str
    entry_span_id: str
    session_id: str
    started_at: datetime
    ended_at: datetime
    entry: KeptEntry
    shares: tuple[ModelShare, ...]
    spans: int

    @property
    def tokens(self) -> TokenCounts:
        return _added([share.tokens for share in self.shares])

    @property
    def main_share(self) -> ModelShare | None:
        """Return the share of the model that took most."""
        return max(
            self.shares,
            key=lambda share: (
                (share.tokens.prompt or 0) + (share.tokens.completion or 0),
                share.provider or "",
                share.model or "",
            ),
            default=None,
        )


def turn_of(trace_id: str, spans: Sequence[KeptSpan]) -> TraceTurn | None:
    """Return the turn that a trace is, or None as long as something is missing.

    A turn begins with the root; in a trace that somebody else began, with the
    earliest span that was called from outside. It needs a session, which any span
    may name; the one where the turn begins comes first, then the earliest.
    """
    ordered = sorted(spans, key=lambda span: span.place)
    entries = [(span, span.entry) for span in ordered if span.entry is not None]
    if not entries:
        return None
    # The first of the roots, which sort before those that were called.
    begin, entry = min(entries, key=lambda each: (not each[1].is_root, each[0].place))
    named = [span.session_id for span in (begin, *ordered) if span.session_id]
    if not named:
        return None
    return TraceTurn(
        trace_id=trace_id,
        entry_span_id=begin.span_id,
        session_id=named[0],
        started_at=datetime.fromisoformat(begin.started_at),
        ended_at=datetime.fromisoformat(entry.ended_at),
        entry=entry,
        shares=_shares(ordered),
        spans=sum(1 for span in spans if span.entry or span.call),
    )


def _shares(ordered: Sequence[KeptSpan]) -> tuple[ModelShare, ...]:
    """Add up what each model took, from the first to be called on."""
    of_model: defaultdict[tuple[str | None, str | None], list[ModelCall]]
    of_model = defaultdict(list)
    for call in _counted(ordered):
        of_model[call.provider, call.model].append(call)
    return tuple(
        ModelShare(
            provider=provider,
            model=model,
            asked_model=next((c.asked_model for c in calls if c.asked_model), None),
            tokens=_added([_tokens(call) for call in calls]),
        )
        for (provider, model), calls in of_model.items()
    )


def _counted(ordered: Sequence[KeptSpan]) -> list[ModelCall]:
    """Choose the calls, so that no token is counted twice.

    Spans that stand for others count only where there is no call at all. Of a call
    and the call inside it, as of two instrumented layers, the inner one counts.
    """
    told = [(span, span.call) for span in ordered if span.call is not None]
    calls = [each for each in told if not each[1].is_total] or told
    outer = {span.parent_id for span, _ in calls}
    return [call for span, call in calls if span.span_id not in outer]


def _tokens(call: ModelCall) -> TokenCounts:
    return TokenCounts(
        prompt=call.prompt_tokens,
        completion=call.completion_tokens,
        cache_read=call.cache_read_tokens,
        cache_creation=call.cache_creation_tokens,
    )


def _added(counts: Sequence[TokenCounts]) -> TokenCounts:
    def total(name: str) -> int | None:
        known = [n for each in counts if (n := getattr(each, name)) is not None]
        return sum(known) if known else None

    return TokenCounts(
        prompt=total("prompt"),
        completion=total("completion"),
        cache_read=total("cache_read"),
        cache_creation=total("cache_creation"),
    )
