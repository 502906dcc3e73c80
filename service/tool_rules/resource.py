"""Tool rules, and warnings about them, as the API shows them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal
from uuid import UUID

from typing_extensions import TypedDict

from service.http.envelope import UuidText
from service.pacing import computed
from service.tool_rules.aggregate import Rules
from service.tool_rules.decision import STANCES, Stance
from service.tool_rules.shadowing import shadows


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
    the connector, so every tool of it is denied.
    """

    code: Literal["rule_shadowed", "connector_not_granted"]
    message: str
    connector_id: UuidText
    tool_pattern: str | None
    stance: Stance | None
    shadowed_by: ShadowingRule | None


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


async def warnings_about(
    rules: Rules, not_granted: Iterable[UUID]
) -> list[ToolRuleWarning]:
    """List warnings by connector id; those about many rules are made in a thread."""
    return await computed(
        sum(map(len, rules.values())), _warnings_about, rules, not_granted
    )


def _warnings_about(rules: Rules, not_granted: Iterable[UUID]) -> list[ToolRuleWarning]:
    missing = {str(connector_id) for connector_id in not_granted}
    return [
        warning
        for connector_id, stances in sorted(rules.items())
        for warning in _warnings(
            connector_id, stances, granted=connector_id not in missing
        )
    ]


def _warnings(
    connector_id: str, stances: Mapping[str, str], *, granted: bool
) -> Iterator[ToolRuleWarning]:
    if not granted:
        yield {
            "code": "connector_not_granted",
            "message": "the agent doesn't hold this connector: its tools are denied",
            "connector_id": connector_id,
            "tool_pattern": None,
            "stance": None,
            "shadowed_by": None,
        }
    for found in shadows(stances):
        yield {
            "code": "rule_shadowed",
            "message": (
                f"{found.stance} {found.tool_pattern!r} has no effect: "
                f"{found.by_stance} {found.by_pattern!r} is stronger and matches "
                "every tool that it matches"
            ),
            "connector_id": connector_id,
            "tool_pattern": found.tool_pattern,
            "stance": found.stance,
            "shadowed_by": {
                "tool_pattern": found.by_pattern,
                "stance": found.by_stance,
            },
        }
