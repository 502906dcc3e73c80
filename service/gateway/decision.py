"""The decision on a tool: rules, grant and definition together; pure.

Lists, calls and explanations all decide here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from service.agents.aggregate import Agent
from service.connectors.aggregate import Connector
from service.gateway.gate import RefusalReason
from service.identifiers import id_text
from service.tool_definitions.aggregate import StoredDefinition, ToolDefinitions
from service.tool_definitions.pinning import HIDDEN, PinReason, decide_pinned
from service.tool_rules.aggregate import ToolRules
from service.tool_rules.decision import Stance, decide, matching_rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A stance, and what it comes from.

    ``rule`` is one of the patterns with the final stance, empty if no rule matches.
    ``definition`` is the one that a call is bound to; None if the tool is hidden.
    """

    stance: Stance
    rule: str
    granted: bool
    pin: PinReason | None
    definition: StoredDefinition | None

    @property
    def refusal(self) -> RefusalReason | None:
        """Why a call is refused; None for one that is allowed, or asked about."""
        if not self.granted:
            return RefusalReason.CONNECTOR_NOT_GRANTED
        if self.pin is PinReason.CHANGED:
            return RefusalReason.DEFINITION_CHANGED
        if self.definition is None:
            return RefusalReason.UNKNOWN_TOOL
        return RefusalReason.DENIED if self.stance is Stance.DENY else None


def decide_tool(
    *,
    agent: Agent | None,
    connector: Connector | None,
    rules: ToolRules | None,
    definitions: ToolDefinitions | None,
    tool: str,
) -> Decision:
    """Decide on a tool of a connector by its upstream's own name."""
    matching = matching_rules(stances_of(rules, connector), tool)
    granted = holds(agent, connector)
    standing = definitions.standing(tool) if definitions else None
    stance, pin = decide_pinned(
        decide(matching, granted=granted),
        matching,
        tool,
        standing,
        is_observed=definitions is not None,
    )
    is_hidden = definitions is None or pin in HIDDEN.values()
    return Decision(
        stance=stance,
        rule=_deciding(matching, stance, pin),
        granted=granted,
        pin=pin,
        definition=(
            None if definitions is None or is_hidden else definitions.observed[tool]
        ),
    )


def stances_of(
    rules: ToolRules | None, connector: Connector | None
) -> Mapping[str, str]:
    """Return an agent's stances on a connector by tool pattern."""
    if rules is None or connector is None:
        return {}
    return rules.rules.get(id_text(connector.id), {})


def holds(agent: Agent | None, connector: Connector | None) -> bool:
    """Whether an agent holds a connector; a retired one holds none."""
    return (
        agent is not None
        and not agent.is_retired
        and connector is not None
        and not connector.is_retired
        and connector.is_granted_to(agent.id)
    )


def _deciding(
    matching: Mapping[str, Stance], stance: Stance, pin: PinReason | None
) -> str:
    wanted = Stance.ALLOW if pin is PinReason.NEW else stance
    return next((rule for rule, each in matching.items() if each is wanted), "")


def connectors_named(rules: ToolRules | None) -> list[UUID]:
    """Return the connectors that an agent has rules for: of others it may call none."""
    return sorted(map(UUID, rules.rules)) if rules else []
