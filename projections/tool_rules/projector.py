"""Events of rules, grants and tool definitions to spans of what decides."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from projections.engine.projector import Projector
from projections.tool_rules.definition_spans import fold_definitions
from projections.tool_rules.spans import HoldingSpan, RuleSpan, Spans
from projections.tool_rules.table import (
    END_DEFINITIONS,
    END_HOLDINGS,
    END_RULES,
    INSERT_CHANGES,
    INSERT_DEFINITIONS,
    INSERT_HOLDINGS,
    INSERT_RULES,
    Pair,
    RulesChange,
    lasting_holdings,
    lasting_rules,
    write,
)
from service.connectors.aggregate import Connector
from service.database import Db
from service.event_log.mapper import RecordedEvent
from service.pacing import Pace
from service.tool_definitions.aggregate import ToolDefinitions
from service.tool_rules.aggregate import ToolRules
from service.tool_rules.glob import search_key

OF_RULES = (ToolRules.Replaced, ToolRules.Cleared)
OF_HOLDINGS = (Connector.GrantedToAgent, Connector.GrantRevoked, Connector.Retired)
OF_DEFINITIONS = (ToolDefinitions.Observed, ToolDefinitions.Accepted)


class ToolRulesProjector(Projector):
    name = "tool_rules"
    events = (*OF_RULES, *OF_HOLDINGS, *OF_DEFINITIONS)

    async def project(self, db: Db, events: Sequence[RecordedEvent]) -> None:
        await _project_rules(db, _those(events, OF_RULES))
        await _project_holdings(db, _those(events, OF_HOLDINGS))
        definitions = await fold_definitions(db, _those(events, OF_DEFINITIONS))
        await write(db, END_DEFINITIONS, definitions.ended)
        await write(db, INSERT_DEFINITIONS, definitions.begun)


def _those(
    events: Iterable[RecordedEvent], kinds: tuple[type, ...]
) -> list[RecordedEvent]:
    return [recorded for recorded in events if isinstance(recorded.event, kinds)]


async def _project_rules(db: Db, events: Sequence[RecordedEvent]) -> None:
    cleared, pairs = set[UUID](), set[Pair]()
    for recorded in events:
        match recorded.event:
            case ToolRules.Cleared(agent_id=agent):
                cleared.add(UUID(agent))
            case ToolRules.Replaced(agent_id=agent, rules=rules):
                pairs.update((UUID(agent), UUID(connector)) for connector in rules)
    if not events:
        return
    lists: dict[UUID, dict[UUID, Spans[str, RuleSpan]]] = defaultdict(dict)
    lasting = await lasting_rules(db, pairs, cleared)
    for (agent_id, connector_id), of_pair in (await _by_pair(lasting)).items():
        lists[agent_id][connector_id] = Spans(of_pair)
    changes: list[RulesChange] = []
    pace = Pace()
    for recorded in events:
        agent_id = UUID(recorded.event.agent_id)
        of_agent, stated = lists[agent_id], _stated(recorded.event)
        if stated is None:
            stated = {each: {} for each, spans in of_agent.items() if spans.lasting}
        for connector_id, stances in stated.items():
            spans = of_agent.setdefault(connector_id, Spans({}))
            change = RulesChange(
                agent_id=agent_id,
                connector_id=connector_id,
                position=recorded.position,
            )
            await _replace(spans, stances, change, pace)
            changes.append(change)
    every = [spans for of_agent in lists.values() for spans in of_agent.values()]
    await write(db, END_RULES, [each for spans in every for each in spans.ended])
    await write(db, INSERT_RULES, [each for spans in every for each in spans.begun])
    await write(db, INSERT_CHANGES, changes)


async def _by_pair(rules: Iterable[RuleSpan]) -> dict[Pair, dict[str, RuleSpan]]:
    found: dict[Pair, dict[str, RuleSpan]] = defaultdict(dict)
    pace = Pace()
    for each in rules:
        await pace.pause()
        found[each.agent_id, each.connector_id][each.pattern] = each
    return found


def _stated(
    event: ToolRules.Replaced | ToolRules.Cleared,
) -> dict[UUID, Mapping[str, str]] | None:
    """Return the complete rules of each connector named; None if all are cleared."""
    if isinstance(event, ToolRules.Cleared):
        return None
    return {UUID(connector): stances for connector, stances in event.rules.items()}


async def _replace(
    spans: Spans[str, RuleSpan],
    stances: Mapping[str, str],
    change: RulesChange,
    pace: Pace,
) -> None:
    for pattern in spans.lasting.keys() - stances.keys():
        await pace.pause()
        spans.end(pattern, change.position)
    for pattern, stance in stances.items():
        await pace.pause()
        # What is stated again unchanged stands since it was first stated.
        lasting = spans.lasting.get(pattern)
        if lasting is None or lasting.stance != stance:
            spans.begin(
                pattern,
                RuleSpan(
                    agent_id=change.agent_id,
                    connector_id=change.connector_id,
                    pattern=pattern,
                    stance=stance,
                    search_key=search_key(pattern),
                    since=change.position,
                ),
            )


async def _project_holdings(db: Db, events: Sequence[RecordedEvent]) -> None:
    pairs, retired = set[Pair](), set[UUID]()
    for recorded in events:
        if isinstance(recorded.event, Connector.Retired):
            retired.add(recorded.aggregate_id)
        else:
            pairs.add((recorded.aggregate_id, UUID(recorded.event.agent_id)))
    if not events:
        return
    spans = Spans[Pair, HoldingSpan](
        {
            (each.connector_id, each.agent_id): each
            for each in await lasting_holdings(db, pairs, retired)
        }
    )
    for recorded in events:
        connector_id, position = recorded.aggregate_id, recorded.position
        match recorded.event:
            case Connector.Retired():
                for pair in [each for each in spans.lasting if each[0] == connector_id]:
                    spans.end(pair, position)
            case Connector.GrantRevoked(agent_id=agent):
                spans.end((connector_id, UUID(agent)), position)
            case Connector.GrantedToAgent(agent_id=agent):
                # Of one that is granted, it is only its owner's own consent.
                if (pair := (connector_id, UUID(agent))) not in spans.lasting:
                    spans.begin(
                        pair,
                        HoldingSpan(
                            connector_id=connector_id,
                            agent_id=pair[1],
                            since=position,
                        ),
                    )
    await write(db, END_HOLDINGS, spans.ended)
    await write(db, INSERT_HOLDINGS, spans.begun)
