"""Tool rule events to the tool rules' read table."""

from collections.abc import Sequence
from uuid import UUID

from projections.engine.projector import Projector
from projections.tool_rules.table import (
    ToolRuleRow,
    delete_rules_of_agents,
    replace_rules,
)
from service.database import Db
from service.event_log.mapper import RecordedEvent
from service.tool_rules.aggregate import ToolRules

Lists = dict[tuple[UUID, UUID], list[ToolRuleRow]]


class ToolRulesProjector(Projector):
    name = "tool_rules"
    events = (ToolRules.Replaced, ToolRules.Cleared)

    async def project(self, db: Db, events: Sequence[RecordedEvent]) -> None:
        cleared: set[UUID] = set()
        lists: Lists = {}
        for recorded in events:
            match recorded.event:
                case ToolRules.Cleared(agent_id=agent):
                    agent_id = UUID(agent)
                    cleared.add(agent_id)
                    lists = {
                        pair: rows
                        for pair, rows in lists.items()
                        if pair[0] != agent_id
                    }
                case ToolRules.Replaced():
                    lists.update(_lists(recorded))
        if cleared:
            await delete_rules_of_agents(db, cleared)
        if lists:
            rows = [row for listed in lists.values() for row in listed]
            await replace_rules(db, list(lists), rows)


def _lists(recorded: RecordedEvent) -> Lists:
    """Return the complete list of each (agent, connector) that an event names."""
    agent_id = UUID(recorded.event.agent_id)
    return {
        (agent_id, UUID(connector)): [
            ToolRuleRow(
                agent_id=agent_id,
                connector_id=UUID(connector),
                pattern=pattern,
                stance=stance,
                position=recorded.position,
            )
            for pattern, stance in stances.items()
        ]
        for connector, stances in recorded.event.rules.items()
    }
