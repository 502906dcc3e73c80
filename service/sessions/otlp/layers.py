"""Select the model calls of a trace that count, so that no token counts twice.

A model call may be described by several spans: by the SDK's instrumentation inside the
framework's, or by both beside each other, as when one writes its span afterwards.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from service.sessions.otlp.span import KeptSpan, ModelCall

# How many model calls before one are compared with it; more don't run at the same time.
COMPARED_MAX: Final = 16
# What isn't certain of a model call that another span may tell, too.
CALLS: Final = "calls"


@dataclass(slots=True)
class CountedModelCall:
    """A model call, and the spans that describe it, the innermost first.

    ``is_doubtful``: it may be told twice, so that its turn's cost is an estimate.
    """

    started_at: datetime
    ended_at: datetime
    calls: list[ModelCall] = field(default_factory=list)
    is_doubtful: bool = False

    @property
    def scopes(self) -> set[str]:
        return {call.scope for call in self.calls}

    def whole(self) -> ModelCall:
        """Return the innermost description, completed from the others."""
        found = next((call for call in self.calls if call.has_usage), self.calls[0])
        for other in self.calls:
            found = _completed(found, other)
        if self.is_doubtful:
            found = replace(found, untold=(*found.untold, CALLS))
        return found


def counted_calls(ordered: Sequence[KeptSpan]) -> list[CountedModelCall]:
    """Return the model calls that count of spans in the order of their start.

    Spans that sum up others count only if no single call tells its usage.
    """
    told = [(span, span.call) for span in ordered if span.call is not None]
    single = [item for item in told if not item[1].is_total]
    if not any(call.has_usage for _, call in single):
        totals = [item for item in told if item[1].is_total]
        single = totals or single
    return _merged(_nested(_with_stream_logs(single)))


def _with_stream_logs(
    told: Sequence[tuple[KeptSpan, ModelCall]],
) -> list[tuple[KeptSpan, ModelCall]]:
    """Give the usage that is told after a stream to the model call that it belongs to.

    That is the last one before, of the same instrumentation under the same parent,
    that has no usage.
    """
    if not any(call.is_stream_log for _, call in told):
        return list(told)
    found: list[tuple[KeptSpan, ModelCall]] = []
    for span, call in told:
        index = next(
            (
                index
                for index in range(len(found) - 1, -1, -1)
                if call.is_stream_log and _is_stream_of(found[index], (span, call))
            ),
            None,
        )
        if index is None:
            found.append((span, call))
        else:
            found[index] = (found[index][0], call)
    return found


def _is_stream_of(
    before: tuple[KeptSpan, ModelCall], log: tuple[KeptSpan, ModelCall]
) -> bool:
    (span, call), (log_span, told) = before, log
    return (
        span.parent_id == log_span.parent_id
        and call.scope == told.scope
        and not call.has_usage
        and call.response_id is None
        and _have_one_model(call, told)
    )


def _nested(told: Sequence[tuple[KeptSpan, ModelCall]]) -> list[CountedModelCall]:
    """Return the innermost model calls, each with the calls directly around it."""
    by_id = {span.span_id: (span, call) for span, call in told}
    inner: defaultdict[str, list[ModelCall]] = defaultdict(list)
    for span, call in told:
        inner[span.parent_id].append(call)
    found = []
    for span, call in told:
        if span.span_id in inner:
            continue
        counted = CountedModelCall(_start(span), _end(span), [call])
        around = span.parent_id
        seen = {span.span_id}
        # A span around several model calls sums them up: it completes none of them.
        while around in by_id and around not in seen and len(inner[around]) == 1:
            seen.add(around)
            outer, outer_call = by_id[around]
            counted.calls.append(outer_call)
            around = outer.parent_id
        beside = inner[around] if around in by_id and around not in seen else ()
        counted.is_doubtful = _contradict(counted.calls) or (
            len(beside) > 1 and _tells_more(by_id[around][1], beside)
        )
        found.append(counted)
    return found


def _contradict(calls: Sequence[ModelCall]) -> bool:
    """Return whether calls around one another tell several usages of one answer."""
    told = [call for call in calls if call.has_usage]
    return any(
        _differ(told[0], outer) and not _have_one_id(told[0], outer)
        for outer in told[1:]
    )


def _have_one_id(a: ModelCall, b: ModelCall) -> bool:
    return a.response_id is not None and a.response_id == b.response_id


def _differ(a: ModelCall, b: ModelCall) -> bool:
    """Return whether two tell different counts, of those that both tell."""
    return any(
        None not in pair and pair[0] != pair[1]
        for pair in zip(_counts(a), _counts(b), strict=True)
    )


def _tells_more(outer: ModelCall, inner: Sequence[ModelCall]) -> bool:
    """Return whether a call around several tells more than they do."""
    sums = map(
        sum, zip(*((n or 0 for n in _counts(each)) for each in inner), strict=True)
    )
    return any((n or 0) > total for n, total in zip(_counts(outer), sums, strict=True))


def _merged(calls: Sequence[CountedModelCall]) -> list[CountedModelCall]:
    """Merge what several instrumentations beside each other say of a model call."""
    found: list[CountedModelCall] = []
    by_id: dict[str, CountedModelCall] = {}
    for call in sorted(calls, key=lambda each: each.started_at):
        for other in _candidates(call, found, by_id):
            sameness = _is_same(other, call)
            if sameness is None:
                call.is_doubtful = True
            elif sameness:
                # The one that started later is nearer to the request.
                other.calls = call.calls + other.calls
                other.ended_at = max(other.ended_at, call.ended_at)
                other.is_doubtful = other.is_doubtful or call.is_doubtful
                _add_ids(other, by_id)
                break
        else:
            call.is_doubtful = call.is_doubtful or _may_be_one_before(call, found)
            found.append(call)
            _add_ids(call, by_id)
    return found


def _candidates(
    call: CountedModelCall,
    found: Sequence[CountedModelCall],
    by_id: Mapping[str, CountedModelCall],
) -> Iterator[CountedModelCall]:
    """Yield what tells the same answer, then the last ones before a model call."""
    for each in call.calls:
        if each.response_id is not None and each.response_id in by_id:
            yield by_id[each.response_id]
    yield from reversed(found[-COMPARED_MAX:])


def _add_ids(call: CountedModelCall, by_id: dict[str, CountedModelCall]) -> None:
    by_id.update((each.response_id, call) for each in call.calls if each.response_id)


def _may_be_one_before(
    call: CountedModelCall, found: Sequence[CountedModelCall]
) -> bool:
    """Return whether more run at the same time than a model call is compared with.

    Those of its own instrumentation are others.
    """
    if len(found) <= COMPARED_MAX or any(each.response_id for each in call.calls):
        return False
    next_before = found[-COMPARED_MAX - 1]
    return _overlap(next_before, call) and not next_before.scopes & call.scopes


def _is_same(a: CountedModelCall, b: CountedModelCall) -> bool | None:
    """Return whether two describe one model call; None if that isn't clear."""
    of_a = {call.response_id for call in a.calls} - {None}
    of_b = {call.response_id for call in b.calls} - {None}
    if of_a and of_b and not of_a & of_b:
        return False
    has_one_id = bool(of_a & of_b)
    # One instrumentation describes a model call once, unless it names the same answer.
    if a.scopes & b.scopes:
        if not has_one_id:
            return False
        return _counts(a.whole()) == _counts(b.whole()) or None
    return has_one_id or (_overlap(a, b) and _may_be_one(a.whole(), b.whole()))


def _overlap(a: CountedModelCall, b: CountedModelCall) -> bool:
    shorter = min(a.ended_at - a.started_at, b.ended_at - b.started_at)
    both = min(a.ended_at, b.ended_at) - max(a.started_at, b.started_at)
    return both >= timedelta(0) and both >= shorter / 2


def _may_be_one(first: ModelCall, second: ModelCall) -> bool | None:
    has_one_model = _have_one_model(first, second)
    if not (first.has_usage and second.has_usage):
        return has_one_model
    if _counts(first) == _counts(second):
        return None if first.model and second.model and not has_one_model else True
    # The same model at the same time with another usage: told wrongly, or two calls.
    return None if has_one_model else False


def _counts(call: ModelCall) -> tuple[int | None, int | None]:
    return call.prompt_tokens, call.completion_tokens


def _have_one_model(a: ModelCall, b: ModelCall) -> bool:
    names_of_a, names_of_b = _model_names(a), _model_names(b)
    return any(
        one.startswith(other) or other.startswith(one)
        for one in names_of_a
        for other in names_of_b
    )


def _model_names(call: ModelCall) -> set[str]:
    """Return a call's names of its model, without a provider in front."""
    names = (call.model, call.asked_model)
    return {name.rpartition("/")[2] for name in names if name is not None}


def _completed(call: ModelCall, other: ModelCall) -> ModelCall:
    """Return a model call with what another description of it tells in addition."""
    completed = replace(
        call,
        provider=call.provider or other.provider,
        model=call.model or other.model,
        asked_model=call.asked_model or other.asked_model,
        conditions={**other.conditions, **call.conditions},
        reported_cost=call.reported_cost or other.reported_cost,
        # What one of both tells, or would have told.
        untold=(
            [name for name in call.untold if name in other.untold]
            if other.has_usage
            else call.untold
        ),
        total_tokens=(
            call.total_tokens if other.total_tokens or not other.has_usage else None
        ),
    )
    if call.prompt_tokens != other.prompt_tokens or call is other:
        return completed
    # Parts of the same whole: some instrumentations write 0 for what they don't read.
    return replace(
        completed,
        completion_tokens=_greater(call.completion_tokens, other.completion_tokens),
        cache_read_tokens=_greater(call.cache_read_tokens, other.cache_read_tokens),
        cache_creation_tokens=_greater(
            call.cache_creation_tokens, other.cache_creation_tokens
        ),
        details={
            name: max(call.details.get(name, 0), other.details.get(name, 0))
            for name in (call.details.keys() | other.details.keys())
        },
    )


def _greater(count: int | None, other: int | None) -> int | None:
    if count is None or other is None:
        return other if count is None else count
    return max(count, other)


def _start(span: KeptSpan) -> datetime:
    return datetime.fromisoformat(span.started_at)


def _end(span: KeptSpan) -> datetime:
    return datetime.fromisoformat(span.ended_at or span.started_at)
