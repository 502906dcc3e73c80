"""A history that nobody planned of all that decides about tools, and its fold."""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from service.agents.aggregate import Agent
from service.connectors.aggregate import Connector
from service.event_log.mapper import RecordedEvent
from service.tool_definitions.aggregate import (
    Standing,
    StoredDefinition,
    ToolDefinitions,
)
from service.tool_definitions.pinning import decide_pinned
from service.tool_rules.aggregate import ToolRules
from service.tool_rules.decision import (
    WITHOUT_A_MATCH,
    Stance,
    decide,
    matching_rules,
)
from tests.support.scenario import Scenario

PATTERNS = ("*", "?*", "read", "read*", "*ad", "r?ad", "*e*d*", "write", "w*", "x[y]")
TOOLS = ("read", "reads", "road", "write", "other")
STANCES = ("allow", "ask", "deny")
# A server may list anything.
NO_NAME = "\0" * 10_000


class DecidingHistory:
    """Two agents, two connectors, and what happens to them."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self._scenario = scenario
        self._random = random.Random(seed)  # noqa: S311 # no secret
        self._agents = [
            Agent(name="A", description="", manager_id=str(uuid4())) for _ in range(2)
        ]
        self._connectors = [
            Connector(
                owner_id=str(uuid4()),
                name="C",
                url="https://c.example/mcp",
                description="",
            )
            for _ in range(2)
        ]
        self._rules = [ToolRules(agent_id=str(each.id)) for each in self._agents]
        self._definitions = [
            ToolDefinitions(connector_id=str(each.id)) for each in self._connectors
        ]
        self.agent_ids = [each.id for each in self._agents]
        self.connector_ids = [each.id for each in self._connectors]

    async def begin(self) -> None:
        await self._scenario.given(*self._agents, *self._connectors)

    async def go_on(self, steps: int) -> None:
        for _ in range(steps):
            changed = self._step()
            if changed.pending_events:
                await self._scenario.given(changed)

    async def end(self) -> None:
        """Retire one connector, and one agent."""
        self._connectors[1].retire()
        self._agents[1].retire()
        await self._scenario.given(self._connectors[1])
        await self._scenario.given(self._agents[1])

    def _step(self) -> Any:
        choice = self._random.choice
        # What is retired doesn't change any more.
        number = choice([n for n in (0, 1) if not self._agents[n].is_retired])
        connector, definitions = choice(
            [
                pair
                for pair in zip(self._connectors, self._definitions, strict=True)
                if not pair[0].is_retired
            ]
        )
        agent_id = self._agents[number].id
        match choice(("rules",) * 6 + ("clear", "grant", "grant", "revoke", "tools")):
            case "rules":
                rules = self._rules[number]
                rules.replace({str(connector.id): self._some_rules()})
                return rules
            case "clear":
                self._rules[number].clear()
                return self._rules[number]
            case "grant":
                connector.consent_to_grant(agent_id, by_connector=True, by_agent=True)
                return connector
            case "revoke":
                connector.revoke_grant(agent_id)
                return connector
        if definitions.observed and self._random.random() < 0.4:
            definitions.accept([*definitions.observed])
        else:
            self._observe(definitions)
        return definitions

    def _some_rules(self) -> dict[str, str]:
        patterns = self._random.sample(PATTERNS, self._random.randint(0, 4))
        return {each: self._random.choice(STANCES) for each in patterns}

    def _observe(self, definitions: ToolDefinitions) -> None:
        listed = self._random.sample(TOOLS[:4], self._random.randint(0, 4))
        digests = {each: self._random.choice("ab") for each in listed}
        bad = {each: "bad" for each in listed if self._random.random() < 0.15}
        definitions.observe(
            {
                tool: StoredDefinition(digest=digest, document="{}")
                for tool, digest in (digests | {NO_NAME: "a"}).items()
            },
            bad | {NO_NAME: "bad"},
        )


@dataclass(slots=True)
class Fold:
    """How the decision about a tool came about, from one event to the next.

    What decides is applied by the aggregates' own events, and everything is decided
    anew after each.
    """

    agent_id: UUID
    connector_id: UUID
    tool: str
    rules: dict[str, tuple[str, int]] = field(default_factory=dict)
    granted: bool = False
    granted_since: int | None = None
    definitions: ToolDefinitions | None = None
    stance: Stance = WITHOUT_A_MATCH
    stance_since: int | None = None

    def fold(self, events: Iterable[RecordedEvent]) -> "Fold":
        for each in events:
            self._apply(each)
        return self

    @property
    def standing(self) -> Standing | None:
        return self.definitions.standing(self.tool) if self.definitions else None

    def _apply(self, recorded: RecordedEvent) -> None:
        event, position = recorded.event, recorded.position
        if (granted := self._granted_after(event)) != self.granted:
            self.granted, self.granted_since = granted, position
        match event:
            case ToolRules.Replaced() | ToolRules.Cleared():
                if event.agent_id == str(self.agent_id):
                    self._replace(event, position)
            case ToolDefinitions.Created():
                if event.connector_id == str(self.connector_id):
                    self.definitions = event.mutate(None)
                # The next event, of the same command, says which tools there are.
                return
            case ToolDefinitions.Observed() | ToolDefinitions.Accepted():
                if event.connector_id == str(self.connector_id):
                    self.definitions = event.mutate(self.definitions)
        if (now := self._decide()) != self.stance:
            self.stance, self.stance_since = now, position

    def _granted_after(self, event: Any) -> bool:
        match event:
            case Connector.Retired(originator_id=connector_id):
                return self.granted and connector_id != self.connector_id
            case Agent.Retired(originator_id=agent_id):
                return self.granted and agent_id != self.agent_id
            case Connector.GrantedToAgent() | Connector.GrantRevoked():
                pair = (event.originator_id, event.agent_id)
                if pair == (self.connector_id, str(self.agent_id)):
                    return isinstance(event, Connector.GrantedToAgent)
        return self.granted

    def _replace(
        self, event: ToolRules.Replaced | ToolRules.Cleared, position: int
    ) -> None:
        before, stances = self.rules, dict[str, str]()
        if isinstance(event, ToolRules.Replaced):
            if str(self.connector_id) not in event.rules:
                return
            stances = event.rules[str(self.connector_id)]
        self.rules = {
            pattern: before[pattern]
            if before.get(pattern, ("", 0))[0] == stance
            else (stance, position)
            for pattern, stance in stances.items()
        }

    def _decide(self) -> Stance:
        stances = {pattern: stance for pattern, (stance, _) in self.rules.items()}
        matching = matching_rules(stances, self.tool)
        stance, _ = decide_pinned(
            decide(matching, granted=self.granted),
            matching,
            self.tool,
            self.standing,
            is_observed=self.definitions is not None,
        )
        return stance
