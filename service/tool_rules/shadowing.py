"""Shadowed rules: they never decide, since a stronger rule matches all they match."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from service.tool_rules.decision import STRONGEST_FIRST, Stance
from service.tool_rules.glob import Globs, TooMuchWorkError, Work, has_wildcard

# Some tens of milliseconds of a thread. A thousand ordinary rules take a fraction of
# it; a thousand that were made to be slow would take seconds.
WORK_MAX: Final = 500_000_000


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
    checked = 0
    try:
        globs = Globs([pattern for pattern, _ in stronger], work)
        for checked, (pattern, stance) in enumerate(weaker):  # noqa: B007
            # The first that covers it is one of the strongest that do.
            first = next(globs.covering(pattern), None)
            if first is not None and stronger[first][1] is not stance:
                yield Shadow(pattern, stance, *stronger[first])
    except TooMuchWorkError:
        yield Unchecked(len(weaker) - checked)
