"""Compare an agent's decisions at two positions or times."""

from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple
from uuid import UUID

from typing_extensions import TypedDict

from projections.engine.origins import Origin
from service.tool_definitions.aggregate import Standing, ToolDefinitions
from service.tool_definitions.pinning import decide_pinned
from service.tool_rules.aggregate import Rules
from service.tool_rules.comparison import (
    ChangedDecision,
    ConnectorRules,
    Work,
    changed_decisions,
)
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
    """The facts that decide about one agent's tools at one position, by connector.

    ``definitions`` has no connector whose tools weren't observed yet.
    """

    rules: Rules
    held: AbstractSet[str]
    definitions: Mapping[str, ToolDefinitions] = field(default_factory=dict)

    def deciding(self, connector: str) -> ConnectorRules:
        """Return the rules that count: none of a connector that isn't granted."""
        patterns = self.rules.get(connector, {}) if connector in self.held else {}
        return ConnectorRules(patterns, partial(self._pinned, connector))

    def tools(self, connector: str) -> Collection[str]:
        definitions = self.definitions.get(connector)
        return definitions.observed if definitions else ()

    def effect(self, connector: str, tool: str) -> tuple[bool, Standing | None]:
        """Return what of the definitions a decision about a tool depends on."""
        definitions = self.definitions.get(connector)
        if definitions is None:
            return False, None
        return True, definitions.standing(tool)

    def _pinned(
        self, connector: str, stance: Stance, matching: Mapping[str, Stance], tool: str
    ) -> Stance:
        is_observed, standing = self.effect(connector, tool)
        decided, _ = decide_pinned(
            stance, matching, tool, standing, is_observed=is_observed
        )
        return decided


class Differing(NamedTuple):
    """A connector whose grant differs, or the decisions on some tools."""

    connector: str
    tools: list[ChangedDecision]


def not_observed(before: FactsThen, after: FactsThen) -> list[UUID]:
    return [
        UUID(connector)
        for connector in sorted({*before.rules, *after.rules})
        if connector in {*before.held, *after.held}
        and connector not in after.definitions
    ]


def differences(
    before: FactsThen, after: FactsThen, tools: Iterable[str]
) -> list[Differing]:
    """Compare the decisions at two positions, connector by connector.

    Takes up to some seconds of CPU, so not to be called on the event loop.

    :raises InvalidRequestError: it would take more
    """
    work, asked = Work("explain the decisions on single tools instead"), {*tools}
    found = []
    for connector in sorted({*before.rules, *after.rules}):
        names = {*asked, *before.tools(connector), *after.tools(connector)}
        differing = [
            *changed_decisions(
                before.deciding(connector),
                after.deciding(connector),
                work,
                names,
                redefined={
                    name
                    for name in names
                    if before.effect(connector, name) != after.effect(connector, name)
                },
            )
        ]
        if differing or (connector in before.held) != (connector in after.held):
            found.append(Differing(connector, differing))
    return found


def connector_difference(
    differing: Differing,
    before: FactsThen,
    after: FactsThen,
    changed_by: Mapping[tuple[str, str], Origin],
) -> ConnectorDifference:
    connector = differing.connector
    return ConnectorDifference(
        connector_id=UUID(connector),
        granted_before=connector in before.held,
        granted_after=connector in after.held,
        tools=[
            ToolDifference(
                tool=each.tool,
                before=each.before,
                after=each.after,
                changed_by=changed_by.get((connector, each.tool)),
            )
            for each in differing.tools
        ],
    )
