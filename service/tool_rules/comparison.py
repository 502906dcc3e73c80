"""Compare the decisions of two rule sets on tools that the caller names."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from service.errors import InvalidRequestError
from service.tool_rules.decision import STANCES, Stance, decide
from service.tool_rules.glob import compiled, has_wildcard

# Work is counted in nanoseconds of a thread that the slowest patterns take: 1 for each
# character of a pattern with each of a name, and for each pattern with each name:
MATCHING: Final = 100
# For each character of a pattern:
COMPILING: Final = 3_000
# Some seconds at the worst. As many ordinary rules as an agent can have, with a
# thousand tools, take one.
WORK_MAX: Final = 6_000_000_000

Patterns = Mapping[str, str]
"""A connector's rules: the stance of each pattern."""

Pin = Callable[[Stance, Mapping[str, Stance], str], Stance]
"""What a tool's definition leaves of a stance, by the rules that match and its name."""


def as_ruled(stance: Stance, _: Mapping[str, Stance], __: str) -> Stance:
    """Return the stance of the rules: no definition changes it."""
    return stance


@dataclass(frozen=True, slots=True)
class ConnectorRules:
    """A granted connector's rules and tool definitions at one time."""

    patterns: Patterns
    pin: Pin = as_ruled

    def decide(self, tool: str, matching: Iterable[str]) -> Stance:
        """Decide on a tool, of whose matching patterns some may be of other rules."""
        stances = {
            pattern: STANCES[self.patterns[pattern]]
            for pattern in matching
            if pattern in self.patterns
        }
        return self.pin(decide(stances, granted=True), stances, tool)


class ChangedDecision(NamedTuple):
    tool: str
    before: Stance
    after: Stance


@dataclass(slots=True)
class Work:
    """The work that is left for one answer, and what to do instead of more."""

    instead: str
    left: int = field(default_factory=lambda: WORK_MAX)

    def take(self, patterns: Collection[str], tools: Collection[str]) -> None:
        """Account for matching patterns with names, before any of it is done.

        :raises InvalidRequestError: less is left
        """
        if not self.affords(patterns, tools):
            raise InvalidRequestError(
                "the rules are too many and too complicated to compare; "
                f"{self.instead}",
                code="comparison_too_large",
            )

    def affords(self, patterns: Collection[str], tools: Collection[str]) -> bool:
        """Account for matching patterns with names; return whether so much is left."""
        characters = sum(map(len, patterns))
        self.left -= characters * (sum(map(len, tools)) + COMPILING)
        self.left -= len(patterns) * len(tools) * MATCHING
        return self.left >= 0


def changed_decisions(
    before: ConnectorRules,
    after: ConnectorRules,
    work: Work,
    tools: Iterable[str],
    redefined: Collection[str] = (),
) -> Iterator[ChangedDecision]:
    """Yield the tools that the two decide differently on, by name.

    ``redefined`` are those of the tools whose definitions differ.

    :raises InvalidRequestError: that takes more than the remaining work
    """
    names = {*tools}
    changed = {
        pattern for pattern, _ in before.patterns.items() ^ after.patterns.items()
    }
    by_changed = _matching(changed, names, work)
    affected = [tool for tool in names if by_changed[tool] or tool in redefined]
    by_others = _matching(before.patterns.keys() - changed, affected, work)
    for tool in sorted(affected):
        matching = by_changed[tool] + by_others[tool]
        was, is_now = before.decide(tool, matching), after.decide(tool, matching)
        if was != is_now:
            yield ChangedDecision(tool, was, is_now)


def decisions(
    rules: ConnectorRules, tools: Collection[str], work: Work
) -> dict[str, Stance]:
    """Decide on each tool.

    :raises InvalidRequestError: that takes more than the remaining work
    """
    found = _matching(rules.patterns.keys(), tools, work)
    return {tool: rules.decide(tool, matching) for tool, matching in found.items()}


def _matching(
    patterns: AbstractSet[str], tools: Collection[str], work: Work
) -> dict[str, list[str]]:
    """Return the patterns that match each tool."""
    # A tool name among the patterns is the one without wildcards that matches it.
    globs = [*filter(has_wildcard, patterns)]
    work.take(globs, tools)
    matchers = [(glob, compiled(glob)) for glob in globs]
    found = {tool: [glob for glob, match in matchers if match(tool)] for tool in tools}
    for tool in patterns & found.keys():
        if not has_wildcard(tool):
            found[tool].append(tool)
    return found
