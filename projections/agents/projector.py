"""Agent events to the agents' read tables."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from projections.agents.table import (
    AgentRow,
    replace_managers,
    replace_readers,
    select_agents,
    upsert_agents,
)
from projections.engine.projector import Projector
from service.agents.aggregate import Agent
from service.database import Db
from service.event_log.mapper import RecordedEvent


class AgentsProjector(Projector):
    name = "agents"
    events = (
        Agent.Created,
        Agent.Edited,
        Agent.Retired,
        Agent.ManagerAppointed,
        Agent.ManagerDismissed,
        Agent.ReaderAppointed,
        Agent.ReaderDismissed,
        # Only for the version.
        Agent.ToolSearchChanged,
    )

    async def project(self, db: Db, events: Sequence[RecordedEvent]) -> None:
        rows = await select_agents(db, {each.aggregate_id for each in events})
        managing: dict[tuple[UUID, UUID], bool] = {}
        reading: dict[tuple[UUID, UUID], bool] = {}
        for recorded in events:
            _fold_agent(rows, recorded)
            _fold_managers(managing, recorded.event)
            _fold_readers(reading, recorded.event)
        await upsert_agents(db, rows.values())
        await replace_managers(db, managing)
        await replace_readers(db, reading)


def _fold_agent(rows: dict[UUID, AgentRow], recorded: RecordedEvent) -> None:
    event = recorded.event
    if isinstance(event, Agent.Created):
        rows[recorded.aggregate_id] = AgentRow(
            id=recorded.aggregate_id,
            name=event.name,
            description=event.description,
            version=recorded.version,
            created_at=event.timestamp,
            updated_at=event.timestamp,
        )
        return
    row = rows[recorded.aggregate_id]
    row.version = recorded.version
    row.updated_at = event.timestamp
    match event:
        case Agent.Edited():
            row.name, row.description = event.name, event.description
        case Agent.Retired():
            row.is_retired = True


def _fold_managers(managing: dict[tuple[UUID, UUID], bool], event: Any) -> None:
    match event:
        case Agent.Created():
            managing[event.originator_id, UUID(event.manager_id)] = True
        case Agent.ManagerAppointed():
            managing[event.originator_id, UUID(event.user_id)] = True
        case Agent.ManagerDismissed():
            managing[event.originator_id, UUID(event.user_id)] = False


def _fold_readers(reading: dict[tuple[UUID, UUID], bool], event: Any) -> None:
    match event:
        case Agent.ReaderAppointed():
            reading[event.originator_id, UUID(event.user_id)] = True
        case Agent.ReaderDismissed():
            reading[event.originator_id, UUID(event.user_id)] = False
