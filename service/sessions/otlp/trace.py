"""Compute the turn of a trace: a pure function of its set of spans."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from service.sessions.otlp.span import KeptEntry, KeptSpan, ModelCall
from service.sessions.turn import ModelShare, TokenCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceTurn:
    """The turn of a trace, with the texts of its ``entry`` still encrypted.

    ``spans`` is the number of relevant spans. It grows with the set: of two turns of
    one trace, the one with more spans is newer.
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


def turn_of(trace_id: str, spans: Sequence[KeptSpan]) -> TraceTurn | None:
    """Return the turn of a trace, or None while its start or session is missing.

    A turn begins with the root span; in a trace that another service began, with the
    earliest span that was called from outside. Any span may name the session; the
    span where the turn begins has precedence, then the earliest one.
    """
    ordered = sorted(spans, key=lambda span: span.sort_key)
    entries = [(span, span.entry) for span in ordered if span.entry is not None]
    if not entries:
        return None
    # Roots sort before spans that were called from outside.
    begin, entry = min(
        entries, key=lambda found: (not found[1].is_root, found[0].sort_key)
    )
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
    """Sum up the tokens of each model, in the order of their first call."""
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
    """Select the calls, so that no token is counted twice.

    Totals count only if there is no single call. Of nested calls, as of two
    instrumented layers, the inner one counts.
    """
    reported = [(span, span.call) for span in ordered if span.call is not None]
    calls = [item for item in reported if not item[1].is_total] or reported
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
        known = [n for count in counts if (n := getattr(count, name)) is not None]
        return sum(known) if known else None

    return TokenCounts(
        prompt=total("prompt"),
        completion=total("completion"),
        cache_read=total("cache_read"),
        cache_creation=total("cache_creation"),
    )
