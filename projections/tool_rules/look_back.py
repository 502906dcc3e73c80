"""Find the event that last changed a decision; pure."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, NamedTuple

from projections.tool_rules.spans import (
    DefinitionSpan,
    Found,
    HoldingSpan,
    RuleSpan,
    Span,
    held,
)
from service.tool_definitions.aggregate import Standing
from service.tool_definitions.pinning import decide_pinned
from service.tool_rules.comparison import Work
from service.tool_rules.decision import Stance, decide
from service.tool_rules.glob import has_parts_of, matches

# Some ten milliseconds at the worst, of matching rules that have ended.
WORK_MAX: Final = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What decided about a tool until a position.

    ``rules`` may have others than those that match. ``observed_at`` and ``retired_at``
    are the positions where the connector's tools were first observed, and where the
    agent was retired; None if that hadn't happened.
    """

    tool: str
    rules: Found[RuleSpan]
    holdings: Found[HoldingSpan]
    definitions: Found[DefinitionSpan]
    observed_at: int | None
    retired_at: int | None

    @property
    def held(self) -> list[HoldingSpan]:
        return [*held(self.holdings.spans, self.retired_at)]


class LookBack(NamedTuple):
    """The position that last changed the decision; None if none did.

    What happened before ``looked_back_to`` was not looked at; 0 is the beginning.
    """

    changed_at: int | None
    looked_back_to: int


def last_change(past: Past) -> LookBack:
    """Decide after each event from the earliest that is known, and compare."""
    rules = _matching(past.rules, past.tool)
    start = max(each.complete_from for each in (rules, past.holdings, past.definitions))
    steps = [*_steps([*rules.spans, *past.held, *past.definitions.spans], start)]
    if past.observed_at is not None:
        steps.append(_Step(max(past.observed_at, start), begins=True, span=None))
    steps.sort(key=lambda step: (step.position, step.begins))
    moment = _Moment(past.tool)
    decided, changed_at = moment.decide(), None
    for position, together in groupby(steps, key=lambda step: step.position):
        for step in together:
            moment.apply(step)
        now = moment.decide()
        if now != decided and position > start:
            changed_at = position
        decided = now
    return LookBack(changed_at, start)


def _matching(rules: Found[RuleSpan], tool: str) -> Found[RuleSpan]:
    """Return the rules that match, the last ones if all take too much work."""
    lasting = [each for each in rules.spans if each.until is None]
    ended = [each for each in rules.spans if each.until is not None]
    ended.sort(key=lambda each: each.until or 0, reverse=True)
    work, known = Work("", left=WORK_MAX), dict[str, bool]()
    found = [each for each in lasting if matches(each.pattern, tool)]
    for each in ended:
        pattern = each.pattern
        if pattern not in known:
            known[pattern] = False
            if has_parts_of(pattern, tool):
                if not work.affords([pattern], [tool]):
                    return Found(found, max(each.until or 0, rules.complete_from))
                known[pattern] = matches(pattern, tool)
        if known[pattern]:
            found.append(each)
    return Found(found, rules.complete_from)


class _Step(NamedTuple):
    """A span begins or ends; the one that is None is that tools are observed."""

    position: int
    begins: bool
    span: Span | None


def _steps(spans: Iterable[Span], start: int) -> Iterator[_Step]:
    """Yield the steps from a position on, at which what began before begins."""
    for span in spans:
        if span.until is None or span.until > start:
            yield _Step(max(span.since, start), begins=True, span=span)
            if span.until is not None:
                yield _Step(span.until, begins=False, span=span)


@dataclass(slots=True)
class _Moment:
    """What decides about a tool after some steps."""

    tool: str
    rules: dict[str, Stance] = field(default_factory=dict)
    stances: Counter[Stance] = field(default_factory=Counter)
    is_granted: bool = False
    is_observed: bool = False
    standing: Standing | None = None

    def apply(self, step: _Step) -> None:
        match step.span:
            case RuleSpan(pattern=pattern, stance=stance):
                if step.begins:
                    self.rules[pattern] = Stance(stance)
                else:
                    del self.rules[pattern]
                self.stances[Stance(stance)] += 1 if step.begins else -1
            case HoldingSpan():
                self.is_granted = step.begins
            case DefinitionSpan(standing=standing):
                # Each lasts until the next.
                if step.begins:
                    self.standing = standing
            case None:
                self.is_observed = True

    def decide(self) -> Stance:
        # As all matching rules together decide, of which there may be many.
        present = {str(each): each for each, rules in self.stances.items() if rules}
        stance, _ = decide_pinned(
            decide(present, granted=self.is_granted),
            self.rules,
            self.tool,
            self.standing,
            is_observed=self.is_observed,
        )
        return stance
