"""Shadowed rules: they never decide, since a stronger rule matches all they match."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from service.tool_rules.decision import STRONGEST_FIRST, Stance
from service.tool_rules.glob import Globs, has_wildcard

# Some tens of milliseconds. A thousand ordinary rules take a fraction of it; a
# thousand that were made to be slow would take seconds.
WORK_MAX: Final = 500_000_000
WORK_OF_BUILDING_A_PLACE: Final = 1000


@dataclass(slots=True)
class Work:
    """The remaining work for one answer, in automaton states visited."""

    left: int = WORK_MAX


@dataclass(frozen=True, slots=True)
class Shadow:
    """A rule of a connector, and a stronger one that leaves it nothing to decide."""

    tool_pattern: str
    stance: Stance
    by_pattern: str
    by_stance: Stance


@dataclass(frozen=True, slots=True)
class Unchecked:
    """The number of rules of a connector that were not compared, to bound the work."""

    rules: int


def shadows(stances: Mapping[str, str], work: Work) -> Iterator[Shadow | Unchecked]:
    """Yield the shadowed rules of one connector, at most one Shadow for each.

    Exact for a rule that a single stronger one covers; rules that several stronger
    ones cover only together are not looked for.
    """
    if len(stances) == 1:
        return
    by_pattern = sorted(stances.items())
    stronger = [
        (pattern, stance)
        for stance in STRONGEST_FIRST[:-1]
        for pattern, held in by_pattern
        # A single name covers nothing but itself.
        if held == stance and has_wildcard(pattern)
    ]
    if not stronger:
        return
    weaker = [
        (pattern, stance)
        for stance in STRONGEST_FIRST[1:]
        for pattern, held in by_pattern
        if held == stance
    ]
    if not weaker:
        return
    work.left -= WORK_OF_BUILDING_A_PLACE * sum(len(each) for each, _ in stronger)
    if work.left < 0:
        yield Unchecked(len(weaker))
        return
    globs = Globs([pattern for pattern, _ in stronger])
    for number, (pattern, stance) in enumerate(weaker):
        if work.left < 0:
            yield Unchecked(len(weaker) - number)
            return
        before = globs.steps
        # The first that covers it is one of the strongest that do.
        first = next(globs.covering(pattern), None)
        work.left -= (globs.steps - before) * globs.places
        if first is not None and stronger[first][1] is not stance:
            yield Shadow(pattern, stance, *stronger[first])
