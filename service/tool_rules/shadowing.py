"""Shadowed rules: they never decide, since a stronger rule matches all they match."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from service.tool_rules.decision import STRONGEST_FIRST, Stance
from service.tool_rules.glob import ANY_ONE, ANY_RUN


@dataclass(frozen=True, slots=True)
class Shadow:
    """A rule of a connector, and a stronger one that leaves it nothing to decide."""

    tool_pattern: str
    stance: Stance
    by_pattern: str
    by_stance: Stance


Meaning = tuple[str, str]
"""The same for two patterns if, and only if, they match the same names."""


def shadows(stances: Mapping[str, str]) -> Iterator[Shadow]:
    """Yield the shadowed rules of one connector, at most one Shadow for each.

    Finds those below a stronger rule that matches every tool, or the same tools.
    Others that are shadowed aren't looked for: each rule would have to be compared
    with each.
    """
    if len({*stances.values()}) == 1:
        return
    stronger: dict[Meaning, tuple[str, Stance]] = {}
    for stance in STRONGEST_FIRST:
        meanings = {
            pattern: _meaning(pattern)
            for pattern, held in stances.items()
            if held == stance
        }
        for pattern, meaning in meanings.items():
            by = stronger.get(meaning) or stronger.get(EVERYTHING)
            if by is not None:
                yield Shadow(pattern, stance, *by)
        for pattern, meaning in meanings.items():
            stronger.setdefault(meaning, (pattern, stance))


def _meaning(pattern: str) -> Meaning:
    """Return a pattern without its ``*``, and without its ``?`` and repeated ``*``.

    The two say of each run of wildcards how many characters it asks for, and whether
    it takes more. Nothing else counts: ``*?`` is ``?*``, and ``**`` is ``*``.
    """
    runs = pattern.replace(ANY_ONE, "")
    while ANY_RUN * 2 in runs:
        runs = runs.replace(ANY_RUN * 2, ANY_RUN)
    return pattern.replace(ANY_RUN, ""), runs


EVERYTHING: Final = _meaning(ANY_RUN)
