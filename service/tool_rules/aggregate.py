"""The tool rules of one agent."""

from collections.abc import Mapping
from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.identifiers import named_id


class ToolRules(LoggedAggregate):
    """What one agent may do with which tools; made by its first rules.

    Rules are kept, and written into events, as connector id to tool pattern to
    stance, sorted by pattern. Each event names the agent, whose id doesn't follow
    from that of this aggregate.
    """

    class Created(LoggedAggregate.Created):
        TOPIC = "tool_rules.created"
        agent_id: str

    class Replaced(LoggedAggregate.Event):
        """Some connectors have these rules, all of them, from now on."""

        TOPIC = "tool_rules.replaced"
        agent_id: str
        rules: dict[str, dict[str, str]]

    class Cleared(LoggedAggregate.Event):
        """The agent has no rules any more."""

        TOPIC = "tool_rules.cleared"
        agent_id: str

    TOPIC = "tool_rules"

    @staticmethod
    def create_id(agent_id: str) -> UUID:
        return named_id("tool_rules", agent_id)

    @event(Created)
    def __init__(self, agent_id: str) -> None:
        self.agent_id = agent_id
        self.rules: dict[str, dict[str, str]] = {}

    def replace(self, rules: Mapping[str, Mapping[str, str]]) -> bool:
        """Give some connectors their complete rules; return whether any differ."""
        changed = {
            connector: dict(sorted(stances.items()))
            for connector, stances in sorted(rules.items())
            if stances != self.rules.get(connector, {})
        }
        if not changed:
            return False
        self._replaced(agent_id=self.agent_id, rules=changed)
        return True

    @event(Replaced)
    def _replaced(self, agent_id: str, rules: dict[str, dict[str, str]]) -> None:
        self.rules = {**self.rules, **rules}

    def clear(self) -> bool:
        """Drop all rules and return whether there were any."""
        if not self.rules:
            return False
        self._cleared(agent_id=self.agent_id)
        return True

    @event(Cleared)
    def _cleared(self, agent_id: str) -> None:
        self.rules = {}
