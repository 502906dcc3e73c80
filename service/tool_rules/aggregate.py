"""The tool rules of one agent."""

from collections.abc import Mapping
from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.events import Id, Named, Published, listed
from service.identifiers import named_id

Rules = Mapping[str, Mapping[str, str]]
"""Connector id to tool pattern to stance."""


class ToolRules(LoggedAggregate):
    """The tool rules of one agent; created with the first of them.

    Rules are kept, and written into events, as connector id to tool pattern to
    stance, sorted by pattern. Each event names the agent, whose id doesn't follow
    from that of this aggregate.
    """

    class Created(LoggedAggregate.Created):
        """An agent gets its first tool rules; the next event holds them.

        Emitted by ``PUT /api/mcp/agents/{agent_id}/tools``.
        """

        TOPIC = "tool_rules.created"
        agent_id: Published[Id]

        def sentence(self, named: Named) -> str:
            return f"began the tool rules of agent {named(self.agent_id)}, with none"

    class Replaced(LoggedAggregate.Event):
        """These connectors, by id, have exactly these rules from now on.

        ``rules`` is connector id to tool pattern to stance, and holds only connectors
        whose rules differ from before; one without stances has no rules any more.

        Emitted by ``PUT /api/mcp/agents/{agent_id}/tools``, ``POST
        /api/mcp/agents/{agent_id}/tools/restore`` and ``DELETE
        /api/mcp/agents/{agent_id}/tools/connectors/{connector_id}``.
        """

        TOPIC = "tool_rules.replaced"
        agent_id: Published[Id]
        rules: Published[dict[str, dict[str, str]]]

        def sentence(self, named: Named) -> str:
            agent = named(self.agent_id)
            if not any(self.rules.values()):
                connectors = listed([*map(named, self.rules)])
                return f"removed the tool rules of agent {agent} for {connectors}"
            rules = [
                f"{named(connector)}: {_stances(stances)}"
                for connector, stances in self.rules.items()
            ]
            return f"replaced tool rules of agent {agent}: {listed(rules, '; ')}"

        def apply(self, aggregate: "ToolRules") -> None:
            replaced = {**aggregate.rules, **self.rules}
            aggregate.rules = {
                each: stances for each, stances in replaced.items() if stances
            }

    class Cleared(LoggedAggregate.Event):
        """All tool rules of the agent were removed.

        Emitted by ``PUT /api/mcp/agents/{agent_id}/tools`` with an empty batch.
        """

        TOPIC = "tool_rules.cleared"
        agent_id: Published[Id]

        def sentence(self, named: Named) -> str:
            return f"removed all tool rules of agent {named(self.agent_id)}"

        def apply(self, aggregate: "ToolRules") -> None:
            aggregate.rules = {}

    TOPIC = "tool_rules"
    # 2: holds no connector without rules.
    class_version = 2

    @staticmethod
    def create_id(agent_id: str) -> UUID:
        return named_id("tool_rules", agent_id)

    @event(Created)
    def __init__(self, agent_id: str) -> None:
        self.agent_id = agent_id
        self.rules: dict[str, dict[str, str]] = {}

    def replace(self, rules: Rules) -> bool:
        """Give some connectors their complete rules; return whether any differ."""
        changed = {
            connector: dict(sorted(stances.items()))
            for connector, stances in sorted(rules.items())
            if stances != self.rules.get(connector, {})
        }
        if not changed:
            return False
        self.trigger_event(self.Replaced, agent_id=self.agent_id, rules=changed)
        return True

    def clear(self) -> bool:
        """Drop all rules and return whether there were any."""
        if not self.rules:
            return False
        self.trigger_event(self.Cleared, agent_id=self.agent_id)
        return True


def _stances(stances: Mapping[str, str]) -> str:
    return listed([f"{stance} {pattern}" for pattern, stance in stances.items()]) or (
        "none"
    )
