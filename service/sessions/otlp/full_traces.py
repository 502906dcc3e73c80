"""Traces without room for more spans: their roots are taken all the same.

Without its root a trace would be no turn, and nothing of it would ever count. What it
lacks is kept as a mark, so that its turn's cost is an estimate.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from service.database import Pool
from service.pacing import Pace
from service.sessions.otlp.outcome import IngestOutcome
from service.sessions.otlp.pending import KeptTrace, TraceKey, merge_spans
from service.sessions.otlp.span import (
    KeptSpan,
    ReportedSpan,
    refused_spans,
)

_Span = TypeVar("_Span", ReportedSpan, KeptSpan)

ROOTS_MAX: Final = 4
# In each trace, for the marks; and as many again for the roots of later requests.
ROOM: Final = 100
TOO_LARGE: Final = "a trace has too many spans, or too long texts"


def roots_first(
    spans: Sequence[ReportedSpan],
) -> tuple[list[ReportedSpan], list[ReportedSpan]]:
    """Divide spans into the roots that are taken, and the others."""
    roots = _first_entries(spans)
    taken = {root.span_id for root in roots}
    return roots, [each for each in spans if each.span_id not in taken]


def _first_entries(spans: Sequence[_Span]) -> list[_Span]:
    """Return the spans with which a turn would begin: roots, then called ones."""
    entries = [
        ((not each.entry.is_root, each.sort_key), each)
        for each in spans
        if each.entry is not None
    ]
    entries.sort(key=lambda entry: entry[0])
    return [each for _, each in entries[:ROOTS_MAX]]


async def take_roots(
    pool: Pool,
    refused: Mapping[TraceKey, KeptTrace],
    sent: dict[TraceKey, int],
    outcome: IngestOutcome,
) -> AsyncIterator[dict[TraceKey, KeptTrace]]:
    """Take the roots of refused traces, and yield what is kept of these traces.

    Of ``sent``, the numbers of spans, those that are rejected here are taken off.
    """
    left = {}
    pace = Pace()
    for key, trace in refused.items():
        left[key] = _roots(trace)
        await pace.pause()
    with_root = {key: each for key, each in left.items() if len(each.spans) > 1}
    others = {key: each for key, each in left.items() if key not in with_root}
    taken: set[TraceKey] = set()
    for some, room in ((with_root, 2 * ROOM), (others, ROOM)):
        async for merged in merge_spans(pool, some, room=room):
            taken |= merged.keys()
            yield merged
    for key, trace in refused.items():
        roots = len(left[key].spans) - 1 if key in taken else 0
        sent[key] = roots
        outcome.reject(len(trace.spans) - roots, TOO_LARGE)


def _roots(trace: KeptTrace) -> KeptTrace:
    """Return the roots of a trace, and the mark that it lacks spans.

    The roots, or else the mark, name the session that a span of the request names.
    """
    names = (each.session_id for each in trace.spans if each.session_id)
    session_id = next(names, None)
    roots: list[KeptSpan] = [
        replace(each, session_id=each.session_id or session_id)
        for each in _first_entries(trace.spans)
    ]
    first = min(each.started_at for each in trace.spans)
    mark = refused_spans(first)
    if not roots:
        mark = replace(mark, session_id=session_id)
    return KeptTrace([*roots, mark], trace.texts)
