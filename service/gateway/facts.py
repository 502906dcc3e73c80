"""The aggregates that a decision reads, loaded in one place."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from service.agents.aggregate import Agent
from service.aggregate import LoggedAggregate
from service.connectors.aggregate import Connector
from service.event_log.finder import Finder
from service.gateway.decision import Decision, decide_tool, holds, stances_of
from service.identifiers import id_text
from service.pacing import in_thread
from service.tool_definitions.aggregate import StoredDefinition, ToolDefinitions
from service.tool_rules.aggregate import ToolRules

# The worst patterns take most of a millisecond each to compile, once.
RULES_ON_LOOP_MAX: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts that decide about a connector's tools; None if one doesn't exist."""

    agent: Agent | None
    connector: Connector | None
    rules: ToolRules | None
    definitions: ToolDefinitions | None

    @property
    def granted(self) -> bool:
        return holds(self.agent, self.connector)

    def decide(self, tool: str) -> Decision:
        return decide_tool(
            agent=self.agent,
            connector=self.connector,
            rules=self.rules,
            definitions=self.definitions,
            tool=tool,
        )

    def callable_tools(self) -> list[tuple[str, StoredDefinition]]:
        """Return the tools that are allowed or asked about, by name."""
        observed = self.definitions.observed if self.definitions else {}
        return [
            (name, each)
            for name, each in sorted(observed.items())
            if self.decide(name).refusal is None
        ]

    async def decide_quickly(self, tool: str) -> Decision:
        """Decide, beside the event loop where the rules are many."""
        if len(stances_of(self.rules, self.connector)) <= RULES_ON_LOOP_MAX:
            return self.decide(tool)
        return await in_thread(self.decide, tool)

    def lists(self, tool: str) -> bool:
        return self.definitions is not None and self.definitions.lists(tool)

    @property
    def versions(self) -> Mapping[str, int]:
        found: dict[str, LoggedAggregate | None] = {
            "agent": self.agent,
            "connector": self.connector,
            "rules": self.rules,
            "definitions": self.definitions,
        }
        return {name: each.version if each else 0 for name, each in found.items()}


def slugs_of(facts: Iterable[Facts]) -> dict[UUID, str]:
    """Return the slugs of connectors, granted or not."""
    found = [each.connector for each in facts if each.connector is not None]
    return {connector.id: connector.slug for connector in found}


async def find_facts(finder: Finder, agent_id: UUID, connector_id: UUID) -> Facts:
    return Facts(
        agent=await finder.find(Agent, agent_id),
        connector=await finder.find(Connector, connector_id),
        rules=await finder.find(ToolRules, ToolRules.create_id(id_text(agent_id))),
        definitions=await finder.find(
            ToolDefinitions, ToolDefinitions.id_for(connector_id)
        ),
    )
