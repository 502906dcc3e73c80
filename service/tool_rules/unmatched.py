"""Rules that match none of their connector's tools, so that they decide nothing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from service.pacing import computed
from service.tool_rules.aggregate import Rules
from service.tool_rules.comparison import Work
from service.tool_rules.intention import certainly_intended, intended
from service.tool_rules.known_tools import KnownTools, plain_part

# A second of a thread, to find rules and again to interpret them. A thousand ordinary
# rules with several wildcards, on five hundred tools, take a third of it.
WORK_MAX: Final = 1_000_000_000
# So many names are compared with a pattern in the time that other work on a rule takes.
NAMES_AT_ONCE: Final = 20


@dataclass(frozen=True, slots=True)
class Unmatched:
    """The patterns of one connector that match nothing, with what was probably meant.

    ``is_complete`` is False if some patterns were not compared: it takes too long.
    """

    suggestions: Mapping[str, str | None]
    is_complete: bool = True


NONE: Final = Unmatched({})


async def find_unmatched(
    rules: Rules, known: Mapping[str, KnownTools]
) -> Mapping[str, Unmatched]:
    """Find the rules that match none of the known tools, by connector.

    Of a connector that was never observed: those that can't match any.
    """
    number = sum(map(len, rules.values()))
    found = await computed(
        number + _comparisons(rules, known), _matching_nothing, rules, known
    )
    if not found:
        return found
    unmatched = {connector: each.suggestions for connector, each in found.items()}
    return await computed(
        number + _comparisons(unmatched, known, of_all=True), _interpreted, found, known
    )


def _matching_nothing(
    rules: Rules, known: Mapping[str, KnownTools]
) -> dict[str, Unmatched]:
    work = Work("", left=WORK_MAX)
    return {
        connector: found
        for connector, stances in rules.items()
        if (found := _of_connector(stances, known[connector], work)) is not NONE
    }


def _of_connector(patterns: Iterable[str], known: KnownTools, work: Work) -> Unmatched:
    if known.names is None:
        certain = {
            pattern: meant
            for pattern in patterns
            if (meant := certainly_intended(pattern, known.prefixes)) is not None
        }
        return Unmatched(certain) if certain else NONE
    found: list[str] = []
    is_complete = True
    for pattern in patterns:
        # No name can be wrong in a pattern for every name.
        if not pattern.strip("*"):
            continue
        if known.searched.first_match(pattern, work) is not None:
            continue
        if plain_part(pattern) is None and work.left < 0:
            is_complete = False
        else:
            found.append(pattern)
    if is_complete and not found:
        return NONE
    return Unmatched(dict.fromkeys(found), is_complete)


def _interpreted(
    found: Mapping[str, Unmatched], known: Mapping[str, KnownTools]
) -> dict[str, Unmatched]:
    work = Work("", left=WORK_MAX)
    return {
        connector: Unmatched(
            {
                pattern: meant or intended(pattern, known[connector], work)
                for pattern, meant in unmatched.suggestions.items()
            },
            unmatched.is_complete,
        )
        for connector, unmatched in found.items()
    }


def _comparisons(
    rules: Mapping[str, Iterable[str]],
    known: Mapping[str, KnownTools],
    *,
    of_all: bool = False,
) -> int:
    """Count what comparing patterns one by one takes, in work on a rule."""
    return sum(
        len(names) // NAMES_AT_ONCE
        for connector, patterns in rules.items()
        if (names := known[connector].names)
        for pattern in patterns
        if of_all or plain_part(pattern) is None
    )
