"""Compare an agent's decisions at two positions or times."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from typing_extensions import TypedDict

from projections.engine.authored_events import Origin
from projections.tool_rules.definitions_then import NOT_OBSERVED, DefinitionsThen
from projections.tool_rules.origins import HoldingThen, RulesThen
from service.tool_rules.comparison import ConnectorRules, Work, changed_decisions
from service.tool_rules.decision import Stance
from service.tool_rules.resource import RuleChanges


class ToolDifference(TypedDict):
    """A tool with different decisions, and the last event that affected it."""

    tool: str
    before: Stance
    after: Stance
    changed_by: Origin | None


class ConnectorDifference(TypedDict):
    connector_id: UUID
    granted_before: bool
    granted_after: bool
    tools: list[ToolDifference]


class DecisionsDifference(RuleChanges):
    """Rules that differ between two positions, and decisions on tools.

    Decided by rules, grants and tool definitions, as calls are. The tools are those
    that the connector was observed to have, and those named in the request.
    ``not_observed`` are connectors that the agent held, whose tools weren't known yet
    at the later position.
    """

    agent_id: UUID
    since_position: int
    until_position: int
    connectors: list[ConnectorDifference]
    not_observed: list[UUID]


@dataclass(frozen=True, slots=True)
class FactsThen:
    """The facts that decide about one agent's tools at one position, by connector."""

    rules: RulesThen
    held: Mapping[str, HoldingThen]
    definitions: Mapping[str, DefinitionsThen] = field(default_factory=dict)

    def deciding(self, connector: str) -> ConnectorRules:
        """Return the rules that count: none of a connector that isn't granted."""
        patterns = self.rules.stances(connector) if self.granted(connector) else {}
        return ConnectorRules(patterns, self.pinned(connector).decide)

    @property
    def patterns(self) -> dict[str, dict[str, str]]:
        """The rules by connector, also of those that aren't granted."""
        return {each: self.rules.stances(each) for each in self.rules.rules}

    def granted(self, connector: str) -> bool:
        holding = self.held.get(connector)
        return holding is not None and holding.granted

    def pinned(self, connector: str) -> DefinitionsThen:
        return self.definitions.get(connector, NOT_OBSERVED)

    def last_event(self, connector: str, tool: str) -> Origin | None:
        holding = self.held.get(connector)
        origins = [
            origin
            for origin in (
                self.rules.last_changed.get(connector),
                holding.origin if holding else None,
                self.pinned(connector).origin(tool),
            )
            if origin is not None
        ]
        return max(origins, key=lambda origin: origin["position"], default=None)


def not_observed(before: FactsThen, after: FactsThen) -> list[UUID]:
    return [
        UUID(connector)
        for connector in sorted({*before.rules.rules, *after.rules.rules})
        if (before.granted(connector) or after.granted(connector))
        and after.pinned(connector).definitions is None
    ]


def differences(
    before: FactsThen, after: FactsThen, tools: Iterable[str]
) -> list[ConnectorDifference]:
    """Compare the decisions at two positions, connector by connector.

    Takes up to some seconds of CPU, so not to be called on the event loop.

    :raises InvalidRequestError: it would take more
    """
    work, asked = Work("explain the decisions on single tools instead"), {*tools}
    found = []
    for connector in sorted({*before.rules.rules, *after.rules.rules}):
        pinned = [each.pinned(connector) for each in (before, after)]
        names = {*asked, *pinned[0].tools, *pinned[1].tools}
        differing = [
            ToolDifference(
                tool=each.tool,
                before=each.before,
                after=each.after,
                changed_by=after.last_event(connector, each.tool),
            )
            for each in changed_decisions(
                before.deciding(connector),
                after.deciding(connector),
                work,
                names,
                redefined={
                    name
                    for name in names
                    if pinned[0].effect(name) != pinned[1].effect(name)
                },
            )
        ]
        held = (before.granted(connector), after.granted(connector))
        if differing or held[0] != held[1]:
            found.append(
                ConnectorDifference(
                    connector_id=UUID(connector),
                    granted_before=held[0],
                    granted_after=held[1],
                    tools=differing,
                )
            )
    return found
