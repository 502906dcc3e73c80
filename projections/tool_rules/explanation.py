"""Explain why an agent may or may not call a tool."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from typing_extensions import TypedDict

from projections.engine.authored_events import (
    AuthoredEvent,
    Origin,
    in_chunks,
    merged,
)
from projections.engine.time_travel import AsOf
from projections.tool_rules.origins import HoldingThen, RulesThen
from service.agents.aggregate import Agent
from service.connectors.aggregate import Connector
from service.gateway.decision import PinReason, decide_pinned
from service.gateway.definitions.aggregate import Standing, ToolDefinitions
from service.gateway.tool_aliases import tools_by_alias
from service.pacing import in_thread
from service.tool_rules.aggregate import ToolRules
from service.tool_rules.decision import (
    WITHOUT_A_MATCH,
    Stance,
    decide,
    matching_rules,
)

Reason = Literal[
    "rule",
    "no_rule_matches",
    "connector_not_granted",
    "no_connector",
    "agent_retired",
    "new_definition",
    "definition_changed",
    "no_such_tool",
]


class ExplainedRule(TypedDict):
    """A rule of the connector; a decisive one matches and has the rules' stance.

    ``since`` is the event that added it.
    """

    tool_pattern: str
    stance: Stance
    matched: bool
    decisive: bool
    since: Origin


class Explanation(TypedDict):
    """A decision with the rules and grants that it is based on.

    ``version`` is that of the agent's rules, 0 if it never had any. ``position`` is the
    log position of this answer. A retired connector doesn't exist, and a retired agent
    holds none. ``stance_since`` is
    the event that last changed the decision for this tool, ``granted_since`` the event
    that last granted or revoked the connector; null if there was none. ``definition``
    compares the tool's definition with the accepted one, null if the connector lists no
    such tool, and if the agent doesn't hold the connector and the caller can't see it;
    before its tools were first observed, the rules alone decide. ``explained_tool`` is
    the tool that all this is about: ``tool``, or what that is an alias of in the lists
    of agents.
    """

    agent_id: UUID
    connector_id: UUID
    tool: str
    explained_tool: str
    stance: Stance
    stance_since: Origin | None
    reason: Reason
    connector_exists: bool
    granted: bool
    granted_since: Origin | None
    definition: Standing | None
    rules: list[ExplainedRule]
    version: int
    position: int


async def explain(
    then: AsOf,
    *,
    agent_id: UUID,
    connector_id: UUID,
    tool: str,
    sees_connector: bool,
) -> Explanation:
    """Decide about a tool as of a position, and say why.

    ``sees_connector``: the connector exists for the caller, so its definitions do.
    Takes time in proportion to the events of the agent's rules and the connector.
    """
    agent = await then.find(Agent, agent_id)
    retired = agent is not None and agent.is_retired
    connector = await then.find(Connector, connector_id)
    held = await then.find(ToolRules, ToolRules.create_id(str(agent_id)))
    granted = (
        connector is not None and connector.is_granted_to(agent_id) and not retired
    )
    definitions = await then.find(ToolDefinitions, ToolDefinitions.id_for(connector_id))
    asked = tool
    if granted or sees_connector:
        tool = _behind_alias(tool, connector, definitions)
    came_about = await _decision_history(then, agent_id, connector_id, tool)
    stances = held.rules.get(str(connector_id), {}) if held else {}
    matching = await in_thread(matching_rules, stances, tool)
    exists = connector is not None and not connector.is_retired
    standing = definitions.standing(tool) if definitions else None
    of_rules = decide(matching, granted=granted)
    stance, pin = decide_pinned(
        of_rules, matching, tool, standing, is_observed=definitions is not None
    )
    origins = came_about.rules.rules.get(str(connector_id), {})
    return {
        "agent_id": agent_id,
        "connector_id": connector_id,
        "tool": asked,
        "explained_tool": tool,
        "stance": stance,
        "stance_since": came_about.stance_since,
        "reason": (
            "agent_retired"
            if retired
            else _reason(exists=exists, granted=granted, pin=pin, matching=matching)
        ),
        "connector_exists": exists,
        "granted": granted,
        "granted_since": came_about.holding.origin,
        "definition": standing if granted or sees_connector else None,
        "rules": [
            {
                "tool_pattern": pattern,
                "stance": Stance(each),
                "matched": pattern in matching,
                "decisive": granted and pattern in matching and each == of_rules,
                "since": origins[pattern][1],
            }
            for pattern, each in sorted(stances.items())
        ],
        "version": held.version if held else 0,
        "position": then.position,
    }


def _behind_alias(
    name: str, connector: Connector | None, definitions: ToolDefinitions | None
) -> str:
    """Return the tool that a name is an alias of, or the name, if it is a tool's."""
    if connector is None or definitions is None or name in definitions.known:
        return name
    aliases = tools_by_alias(connector.id, connector.slug, sorted(definitions.known))
    return aliases.get(name, name)


@dataclass(slots=True, kw_only=True)
class _DecisionHistory:
    """How the decision about a tool came about, from one event to the next."""

    agent_id: UUID
    connector: str
    tool: str
    rules: RulesThen = field(default_factory=RulesThen)
    holding: HoldingThen = field(default_factory=HoldingThen)
    definitions: ToolDefinitions | None = None
    stance: Stance = WITHOUT_A_MATCH
    stance_since: Origin | None = None

    def fold(self, events: Iterable[AuthoredEvent]) -> None:
        """Apply events; many complicated rules take long for the event loop."""
        for authored in events:
            self._apply(authored)
            if isinstance(authored.event, ToolDefinitions.Created):
                # The next event, of the same command, says which tools there are.
                continue
            now = self._decide()
            if now != self.stance:
                self.stance, self.stance_since = now, authored.origin

    def _apply(self, authored: AuthoredEvent) -> None:
        self.holding.apply(authored, self.agent_id)
        match authored.event:
            case ToolRules.Replaced(rules=rules):
                # Those of other connectors are many, and have no part in it.
                if self.connector in rules:
                    stances = rules[self.connector]
                    self.rules.replace(self.connector, stances, authored.origin)
            case ToolRules.Cleared():
                self.rules.apply(authored)
            case (
                ToolDefinitions.Created()
                | ToolDefinitions.Observed()
                | ToolDefinitions.Accepted() as event
            ):
                self.definitions = event.mutate(self.definitions)

    def _decide(self) -> Stance:
        matching = matching_rules(self.rules.stances(self.connector), self.tool)
        stance, _ = decide_pinned(
            decide(matching, granted=self.holding.granted),
            matching,
            self.tool,
            self.definitions.standing(self.tool) if self.definitions else None,
            is_observed=self.definitions is not None,
        )
        return stance


async def _decision_history(
    then: AsOf, agent_id: UUID, connector_id: UUID, tool: str
) -> _DecisionHistory:
    """Replay everything that had a part in a decision, in its order."""
    found = _DecisionHistory(agent_id=agent_id, connector=str(connector_id), tool=tool)
    events = merged(
        then.events(ToolRules.create_id(str(agent_id))),
        then.events(connector_id),
        then.events(agent_id),
        then.events(ToolDefinitions.id_for(connector_id)),
    )
    # Not all at once: an agent's rules alone can take hundreds of megabytes.
    async for chunk in in_chunks(events):
        await in_thread(found.fold, chunk)
    return found


def _reason(
    *,
    exists: bool,
    granted: bool,
    pin: PinReason | None,
    matching: Mapping[str, Stance],
) -> Reason:
    if not exists:
        return "no_connector"
    if not granted:
        return "connector_not_granted"
    if pin is not None:
        return pin.value
    return "rule" if matching else "no_rule_matches"
