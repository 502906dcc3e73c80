"""Compare the decisions of two rule sets.

Nobody knows all names of a connector's tools, so names are tried: one match for each
pattern, and those that the caller adds. A tool that differs only where several patterns
overlap is found if its name is among them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from service.tool_rules.decision import STANCES, Stance, decide
from service.tool_rules.glob import Globs, Work

Patterns = Mapping[str, str]
"""A connector's rules: the stance of each pattern."""

Pin = Callable[[Stance, Mapping[str, Stance], str], Stance]
"""What a tool's definition leaves of a stance, by the rules that match and its name."""


def as_ruled(stance: Stance, _: Mapping[str, Stance], __: str) -> Stance:
    """Return the stance of the rules: no definition changes it."""
    return stance


class ChangedDecision(NamedTuple):
    tool: str
    before: Stance
    after: Stance


def changed_decisions(
    before: Patterns,
    after: Patterns,
    work: Work,
    tools: Iterable[str] = (),
    pin: Pin = as_ruled,
) -> Iterator[ChangedDecision]:
    """Yield the tools of a granted connector that the two decide differently on.

    :raises TooMuchWorkError: that takes more than the remaining work
    """
    names = affected(before, after, {*tools, *examples(before, after)}, work)
    decided_before = decisions(before, names, work, pin)
    decided_after = decisions(after, names, work, pin)
    for name in sorted(names):
        if decided_before[name] != decided_after[name]:
            yield ChangedDecision(name, decided_before[name], decided_after[name])


def decisions(
    patterns: Patterns, tools: Iterable[str], work: Work, pin: Pin = as_ruled
) -> dict[str, Stance]:
    """Decide on each tool of a granted connector.

    :raises TooMuchWorkError: that takes more than the remaining work
    """
    names = [*patterns]
    globs = Globs(names, work)
    found = {}
    for tool in tools:
        matching = {
            names[number]: STANCES[patterns[names[number]]]
            for number in globs.matching(tool)
        }
        found[tool] = pin(decide(matching, granted=True), matching, tool)
    return found


def affected(
    before: Patterns, after: Patterns, tools: Iterable[str], work: Work
) -> set[str]:
    """Return the tools that a rule matches which only one side has."""
    changed = [pattern for pattern, _ in before.items() ^ after.items()]
    globs = Globs(changed, work)
    return {tool for tool in tools if any(True for _ in globs.matching(tool))}


def examples(*rules: Patterns) -> Iterator[str]:
    """Yield a tool name for each pattern, which few other patterns would match."""
    for patterns in rules:
        for pattern in patterns:
            yield pattern.replace("*", "x").replace("?", "x")
