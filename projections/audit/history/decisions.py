"""How an agent's decisions differ between two moments."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from typing_extensions import TypedDict

from projections.engine.authored_events import Origin
from projections.tool_rules.origins import HoldingThen, RulesThen
from service.tool_rules.decision import Stance


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


class DecisionsDifference(TypedDict):
    """Tools that an agent may call at only one of two positions.

    The service knows no list of a connector's tools, so it tries names: those in the
    request, and one match for each pattern of either position. A tool that differs only
    where several patterns overlap has to be named in the request.
    """

    agent_id: UUID
    since_position: int
    until_position: int
    connectors: list[ConnectorDifference]


@dataclass(frozen=True, slots=True)
class Moment:
    """Rules and holdings of one agent at one position."""

    rules: RulesThen
    held: Mapping[str, HoldingThen]

    def decide(self, connector: str, tool: str) -> Stance:
        return self.rules.decide(connector, tool, granted=self.granted(connector))

    def granted(self, connector: str) -> bool:
        holding = self.held.get(connector)
        return holding is not None and holding.granted

    def last_event(self, connector: str) -> Origin | None:
        holding = self.held.get(connector)
        origins = [
            origin
            for origin in (
                self.rules.last_changed.get(connector),
                holding.origin if holding else None,
            )
            if origin is not None
        ]
        return max(origins, key=lambda origin: origin["position"], default=None)


def differences(
    before: Moment, after: Moment, tools: Iterable[str]
) -> list[ConnectorDifference]:
    """Compare the decisions of two moments, connector by connector."""
    asked = set(tools)
    found = []
    for connector in sorted({*before.rules.rules, *after.rules.rules}):
        names = asked | {
            example_of(pattern)
            for moment in (before, after)
            for pattern in moment.rules.stances(connector)
        }
        differing = [
            ToolDifference(
                tool=name,
                before=before.decide(connector, name),
                after=after.decide(connector, name),
                changed_by=after.last_event(connector),
            )
            for name in sorted(names)
            if before.decide(connector, name) != after.decide(connector, name)
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


def example_of(pattern: str) -> str:
    """Return a tool name that a pattern matches, and few others would."""
    return pattern.replace("*", "x").replace("?", "x")
