"""Tool rules, and warnings about them, as the API shows them."""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from typing import Final, Literal, Unpack
from uuid import UUID

from typing_extensions import TypedDict

from service.http.envelope import UuidText
from service.pacing import computed
from service.tool_rules.aggregate import Rules
from service.tool_rules.commands import ReplacedToolRules
from service.tool_rules.decision import STANCES, Stance
from service.tool_rules.known_tools import UNKNOWN, KnownTools, ToolNames
from service.tool_rules.shadowing import shadows
from service.tool_rules.unmatched import Unmatched, find_unmatched

Code = Literal[
    "rule_shadowed",
    "connector_not_granted",
    "rule_matches_nothing",
    "rules_not_compared",
    "names_change",
]
# Of an agent with rules for more connectors, names that change aren't looked for.
CONNECTORS_COMPARED_MAX: Final = 500
EFFECTS: Final = {
    Stance.ALLOW: "it allows nothing",
    Stance.ASK: "it asks about nothing",
    Stance.DENY: "it denies nothing",
}


class ToolRuleResource(TypedDict):
    connector_id: UuidText
    tool_pattern: str
    stance: Stance


class ShadowingRule(TypedDict):
    tool_pattern: str
    stance: Stance


class ToolRuleWarning(TypedDict):
    """A rule set that probably doesn't do what its author meant.

    ``rule_shadowed``: the rule never decides, because ``shadowed_by`` is stronger
    and matches every tool, or the same tools. Rules that a stronger one shadows in
    another way have no warning. ``connector_not_granted``: the agent doesn't hold
    the connector, so every tool of it is denied. ``rule_matches_nothing``: the rule
    matches none of the tools that the connector was observed to have, also those that
    are gone; ``suggestion`` is the pattern that was probably meant, where that can be
    told. Before the connector is observed, only for a pattern with the prefix of an MCP
    client or of an agent's list. ``rules_not_compared``: some rules with several
    wildcards were not compared with the connector's tools, as that takes too long.
    ``names_change``: the agent sees the tools of a connector under other names, as a
    connector with the same slug gets rules or loses them; only where rules change.
    """

    code: Code
    message: str
    connector_id: UuidText
    tool_pattern: str | None
    stance: Stance | None
    shadowed_by: ShadowingRule | None
    suggestion: str | None


class _Details(TypedDict, total=False):
    tool_pattern: str
    stance: Stance
    shadowed_by: ShadowingRule
    suggestion: str | None


def rule_resources(rules: Rules) -> list[ToolRuleResource]:
    """List rules by connector id, then by pattern (they are stored in that order)."""
    return [
        {
            "connector_id": connector_id,
            "tool_pattern": pattern,
            "stance": STANCES[stance],
        }
        for connector_id, stances in sorted(rules.items())
        for pattern, stance in stances.items()
    ]


def rules_missing(rules: Rules, elsewhere: Rules) -> list[ToolRuleResource]:
    """List the rules that ``elsewhere`` lacks, or has with another stance."""
    missing: Rules = {
        connector_id: {
            pattern: stance
            for pattern, stance in stances.items()
            if elsewhere[connector_id].get(pattern) != stance
        }
        if connector_id in elsewhere
        else stances
        for connector_id, stances in rules.items()
        if elsewhere.get(connector_id) != stances
    }
    return rule_resources(missing) if missing else []


class RuleChanges(TypedDict):
    """What a batch changes; rules that it only repeats are ``unchanged``."""

    added: list[ToolRuleResource]
    removed: list[ToolRuleResource]
    unchanged: int


def changes_between(before: Rules, after: Rules) -> RuleChanges:
    added = rules_missing(after, before)
    return {
        "added": added,
        "removed": rules_missing(before, after),
        "unchanged": sum(map(len, after.values())) - len(added),
    }


async def warnings_of(
    replaced: ReplacedToolRules, names: ToolNames
) -> list[ToolRuleWarning]:
    return [
        *await warnings_about(replaced.after, replaced.not_granted, names),
        *await name_changes(
            replaced.agent_id,
            replaced.connectors_before,
            replaced.connectors_after,
            visible=replaced.visible,
            names=names,
        ),
    ]


async def warnings_about(
    rules: Rules, not_granted: Iterable[UUID], names: ToolNames
) -> list[ToolRuleWarning]:
    """List warnings by connector id; those about many rules are made in a thread."""
    missing = {str(connector_id) for connector_id in not_granted}
    known: Mapping[str, KnownTools]
    known = await names.known_tools(each for each in rules if each not in missing)
    if missing:
        # Nothing is told of the tools of a connector that the agent doesn't hold.
        known = {**dict.fromkeys(missing, UNKNOWN), **known}
    unmatched = await find_unmatched(rules, known)
    return await computed(
        sum(map(len, rules.values())), _warnings_about, rules, missing, unmatched, known
    )


async def name_changes(
    agent_id: UUID,
    before: Collection[str],
    after: Collection[str],
    *,
    visible: Container[str],
    names: ToolNames,
) -> list[ToolRuleWarning]:
    """List warnings about names of tools that change as rules do, by connector id.

    ``before`` and ``after`` are all connectors that the agent has rules for; the caller
    may know of those that are ``visible``.
    """
    if {*before} == {*after} or len({*before, *after}) > CONNECTORS_COMPARED_MAX:
        return []
    was = await names.prefixes(agent_id, before)
    becomes = await names.prefixes(agent_id, after)
    return [
        _warning(
            "names_change",
            connector_id,
            f"the agent sees its tools as '{becomes[connector_id]}_...' instead of "
            f"'{prefix}_...', as another connector with the same slug gets rules or "
            "loses them; change prompts and clients' permissions that name them",
        )
        for connector_id, prefix in sorted(was.items())
        if connector_id in visible and becomes.get(connector_id, prefix) != prefix
    ]


def _warnings_about(
    rules: Rules,
    missing: Container[str],
    unmatched: Mapping[str, Unmatched],
    known: Mapping[str, KnownTools],
) -> list[ToolRuleWarning]:
    return [
        warning
        for connector_id, stances in sorted(rules.items())
        for warning in (
            *_not_granted(connector_id, missing),
            *_matching_nothing(connector_id, stances, unmatched, known),
            *_shadowed(connector_id, stances),
        )
    ]


def _warning(
    code: Code, connector_id: str, message: str, **more: Unpack[_Details]
) -> ToolRuleWarning:
    return {
        "code": code,
        "message": message,
        "connector_id": connector_id,
        "tool_pattern": None,
        "stance": None,
        "shadowed_by": None,
        "suggestion": None,
        **more,
    }


def _not_granted(
    connector_id: str, missing: Container[str]
) -> Iterator[ToolRuleWarning]:
    if connector_id in missing:
        yield _warning(
            "connector_not_granted",
            connector_id,
            "the agent doesn't hold this connector: its tools are denied",
        )


def _matching_nothing(
    connector_id: str,
    stances: Mapping[str, str],
    unmatched: Mapping[str, Unmatched],
    known: Mapping[str, KnownTools],
) -> Iterator[ToolRuleWarning]:
    found = unmatched.get(connector_id)
    if found is None:
        return
    for pattern, suggestion in found.suggestions.items():
        stance = STANCES[stances[pattern]]
        if known[connector_id].names is None:
            why = "begins as a tool is called elsewhere; rules take the tool's own name"
        else:
            why = f"matches none of the connector's known tools: {EFFECTS[stance]}"
        instead = f"; {suggestion!r} was probably meant" if suggestion else ""
        yield _warning(
            "rule_matches_nothing",
            connector_id,
            f"{stance} {pattern!r} {why}{instead}",
            tool_pattern=pattern,
            stance=stance,
            suggestion=suggestion,
        )
    if not found.is_complete:
        yield _warning(
            "rules_not_compared",
            connector_id,
            "the rules with several wildcards are too many to compare all of them with "
            "the connector's tools; send rules for fewer connectors, or simpler ones",
        )


def _shadowed(
    connector_id: str, stances: Mapping[str, str]
) -> Iterator[ToolRuleWarning]:
    for found in shadows(stances):
        yield _warning(
            "rule_shadowed",
            connector_id,
            f"{found.stance} {found.tool_pattern!r} has no effect: "
            f"{found.by_stance} {found.by_pattern!r} is stronger and matches "
            "every tool that it matches",
            tool_pattern=found.tool_pattern,
            stance=found.stance,
            shadowed_by={
                "tool_pattern": found.by_pattern,
                "stance": found.by_stance,
            },
        )
