"""Compare an agent's decisions at two positions or times."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from typing_extensions import TypedDict

from projections.engine.authored_events import Origin
from projections.tool_rules.definitions_then import NOT_OBSERVED, DefinitionsThen
from projections.tool_rules.origins import HoldingThen, RulesThen
from service.errors import InvalidRequestError
from service.tool_rules.comparison import affected, decisions, examples
from service.tool_rules.decision import WITHOUT_A_MATCH, Stance
from service.tool_rules.glob import TooMuchWorkError, Work

# Some seconds: as many ordinary rules as an agent can have, all of them decided anew.
WORK_MAX: Final = 50_000_000_000


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

    Decided by rules, grants and tool definitions, as calls are. The names are those of
    the tools that the connector lists, those in the request, and one match for each
    pattern of either position. Before a connector's tools were first observed, a tool
    that differs only where several patterns overlap has to be named in the request.
    """

    agent_id: UUID
    since_position: int
    until_position: int
    connectors: list[ConnectorDifference]


@dataclass(frozen=True, slots=True)
class FactsThen:
    """The facts that decide about one agent's tools at one position, by connector."""

    rules: RulesThen
    held: Mapping[str, HoldingThen]
    definitions: Mapping[str, DefinitionsThen] = field(default_factory=dict)

    def decisions(
        self, connector: str, tools: Iterable[str], work: Work
    ) -> dict[str, Stance]:
        """Decide on each tool of a connector.

        :raises TooMuchWorkError: that takes more than the remaining work
        """
        if not self.granted(connector):
            return dict.fromkeys(tools, WITHOUT_A_MATCH)
        stances = self.rules.stances(connector)
        pinned = self.pinned(connector)
        return {
            tool: pinned.decide(stance, stances, tool)
            for tool, stance in decisions(stances, tools, work).items()
        }

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


def differences(
    before: FactsThen, after: FactsThen, tools: Iterable[str]
) -> list[ConnectorDifference]:
    """Compare the decisions at two positions, connector by connector.

    Takes up to some seconds of CPU, so not to be called on the event loop.

    :raises InvalidRequestError: it would take more
    """
    try:
        return _differences(before, after, set(tools), Work(WORK_MAX))
    except TooMuchWorkError:
        raise InvalidRequestError(
            "the agent's rules are too many and too complicated to compare; "
            "explain the decisions on single tools instead",
            code="comparison_too_large",
        ) from None


def _differences(
    before: FactsThen, after: FactsThen, asked: set[str], work: Work
) -> list[ConnectorDifference]:
    found = []
    for connector in sorted({*before.rules.rules, *after.rules.rules}):
        rules = [each.rules.stances(connector) for each in (before, after)]
        pinned = [each.pinned(connector) for each in (before, after)]
        names = {*asked, *examples(*rules), *pinned[0].tools, *pinned[1].tools}
        if before.granted(connector) and after.granted(connector):
            moved = {
                name
                for name in names
                if pinned[0].effect(name) != pinned[1].effect(name)
            }
            names = moved | affected(rules[0], rules[1], names, work)
        decided_before = before.decisions(connector, names, work)
        decided_after = after.decisions(connector, names, work)
        differing = [
            ToolDifference(
                tool=name,
                before=decided_before[name],
                after=decided_after[name],
                changed_by=after.last_event(connector, name),
            )
            for name in sorted(names)
            if decided_before[name] != decided_after[name]
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
