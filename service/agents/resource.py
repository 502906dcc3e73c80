"""An agent as the API shows it."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from typing_extensions import TypedDict

from service.agents.aggregate import Agent


class AgentResource(TypedDict):
    id: UUID
    name: str
    description: str
    state: Literal["active", "retired"]
    manager_ids: list[UUID]
    reader_ids: list[UUID]
    version: int
    created_at: datetime
    updated_at: datetime


def agent_resource(agent: Agent) -> AgentResource:
    return {
        "id": agent.id,
        "name": agent.name,
        "description": agent.description,
        "state": "retired" if agent.is_retired else "active",
        "manager_ids": [UUID(manager) for manager in agent.manager_ids],
        "reader_ids": [UUID(reader) for reader in agent.reader_ids],
        "version": agent.version,
        "created_at": agent.created_on,
        "updated_at": agent.modified_on,
    }
