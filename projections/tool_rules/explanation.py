"""Why an agent may or may not call a tool."""

from typing import Literal, TypedDict
from uuid import UUID

from projections.moment import Past
from service.connectors.aggregate import Connector
from service.tool_rules.aggregate import ToolRules
from service.tool_rules.decision import Stance, decide, matching_rules

Reason = Literal["rule", "no_rule_matches", "connector_not_granted", "no_connector"]


class ExplainedRule(TypedDict):
    """A rule of the connector; a decisive one matches and has the final stance."""

    tool_pattern: str
    stance: Stance
    matched: bool
    decisive: bool


class Explanation(TypedDict):
    """A decision with everything that it rests on.

    ``version`` is that of the agent's rules, 0 when it never had any, and
    ``position`` the place of the log that this is true of. A retired connector
    doesn't exist any more.
    """

    agent_id: UUID
    connector_id: UUID
    tool: str
    stance: Stance
    reason: Reason
    connector_exists: bool
    granted: bool
    rules: list[ExplainedRule]
    version: int
    position: int


async def explain(
    then: Past, *, agent_id: UUID, connector_id: UUID, tool: str
) -> Explanation:
    """Decide about a tool as of a position, and say why."""
    connector = await then.find(Connector, connector_id)
    held = await then.find(ToolRules, ToolRules.create_id(str(agent_id)))
    stances = held.rules.get(str(connector_id), {}) if held else {}
    matching = matching_rules(stances, tool)
    exists = connector is not None and not connector.is_retired
    granted = connector is not None and connector.is_granted_to(agent_id)
    stance = decide(matching, granted=granted)
    return {
        "agent_id": agent_id,
        "connector_id": connector_id,
        "tool": tool,
        "stance": stance,
        "reason": _reason(exists=exists, granted=granted, matched=bool(matching)),
        "connector_exists": exists,
        "granted": granted,
        "rules": [
            {
                "tool_pattern": pattern,
                "stance": Stance(each),
                "matched": pattern in matching,
                "decisive": granted and pattern in matching and each == stance,
            }
            for pattern, each in sorted(stances.items())
        ],
        "version": held.version if held else 0,
        "position": then.position,
    }


def _reason(*, exists: bool, granted: bool, matched: bool) -> Reason:
    if not exists:
        return "no_connector"
    if not granted:
        return "connector_not_granted"
    return "rule" if matched else "no_rule_matches"
