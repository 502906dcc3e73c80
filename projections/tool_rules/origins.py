"""The events that an agent's rules and grants date from."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from projections.engine.authored_events import AuthoredEvent, Origin
from service.agents.aggregate import Agent
from service.connectors.aggregate import Connector
from service.tool_rules.aggregate import ToolRules
from service.tool_rules.decision import Stance, decide, matching_rules


@dataclass(slots=True)
class RulesThen:
    """An agent's rules by connector, each with the event that set it."""

    rules: dict[str, dict[str, tuple[str, Origin]]] = field(default_factory=dict)
    last_changed: dict[str, Origin] = field(default_factory=dict)

    def apply(self, authored: AuthoredEvent) -> None:
        match authored.event:
            case ToolRules.Replaced(rules=replaced):
                for connector, stances in replaced.items():
                    self.replace(connector, stances, authored.origin)
            case ToolRules.Cleared():
                for connector in [*self.rules]:
                    self.replace(connector, {}, authored.origin)

    def replace(
        self, connector: str, stances: Mapping[str, str], origin: Origin
    ) -> None:
        # What is stated again unchanged stands since it was first stated.
        before = self.rules.pop(connector, {})
        self.last_changed[connector] = origin
        if stances:
            self.rules[connector] = {
                pattern: (
                    before[pattern]
                    if before.get(pattern, (None,))[0] == stance
                    else (stance, origin)
                )
                for pattern, stance in stances.items()
            }

    def stances(self, connector: str) -> dict[str, str]:
        listed = self.rules.get(connector, {})
        return {pattern: stance for pattern, (stance, _) in listed.items()}

    def decide(self, connector: str, tool: str, *, granted: bool) -> Stance:
        return decide(matching_rules(self.stances(connector), tool), granted=granted)


@dataclass(slots=True)
class HoldingThen:
    """Whether an agent holds a connector, and the event that made it so.

    A retired agent holds none.
    """

    granted: bool = False
    origin: Origin | None = None

    def apply(self, authored: AuthoredEvent, agent_id: UUID) -> None:
        was = self.granted
        match authored.event:
            case Agent.Retired():
                self.granted = False
            case Connector.GrantedToAgent(agent_id=agent):
                self.granted = self.granted or agent == str(agent_id)
            case Connector.GrantRevoked(agent_id=agent):
                self.granted = self.granted and agent != str(agent_id)
            case Connector.Retired():
                self.granted = False
        if was != self.granted:
            self.origin = authored.origin


async def rules_then(events: AsyncIterator[AuthoredEvent]) -> RulesThen:
    then = RulesThen()
    async for authored in events:
        then.apply(authored)
    return then


async def holding_then(
    events: AsyncIterator[AuthoredEvent],
    agent_id: UUID,
    retirement: AuthoredEvent | None = None,
) -> HoldingThen:
    """Fold a connector's events, and the event that retired the agent if any did."""
    then = HoldingThen()
    async for authored in events:
        if retirement and authored.position > retirement.position:
            break
        then.apply(authored, agent_id)
    if retirement:
        then.apply(retirement, agent_id)
    return then


async def retirement_of(events: AsyncIterator[AuthoredEvent]) -> AuthoredEvent | None:
    """Return the event that retired an agent, of all of its events."""
    async for authored in events:
        if isinstance(authored.event, Agent.Retired):
            return authored
    return None
