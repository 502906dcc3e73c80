"""Writes to the agents' read tables."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row

from projections.engine.arrays import columns
from service.database import Db


@dataclass(slots=True, kw_only=True)
class AgentRow:
    id: UUID
    name: str
    description: str
    version: int
    created_at: datetime
    updated_at: datetime


@dataclass(slots=True, kw_only=True)
class ManagerRow:
    agent_id: UUID
    user_id: UUID


SELECT = """
    SELECT id, name, description, version, created_at, updated_at
      FROM agent
     WHERE id = ANY (%s)
"""
UPSERT = """
    INSERT INTO agent (id, name, description, version, created_at, updated_at)
    SELECT *
      FROM unnest(
           %(id)b::uuid[], %(name)b::text[], %(description)b::text[],
           %(version)b::bigint[], %(created_at)b::timestamptz[],
           %(updated_at)b::timestamptz[])
    ON CONFLICT (id) DO UPDATE
       SET version = excluded.version,
           updated_at = excluded.updated_at
"""
DELETE_MANAGERS = """
    DELETE FROM agent_manager m
     USING unnest(%(agent_id)b::uuid[], %(user_id)b::uuid[])
           AS gone (agent_id, user_id)
     WHERE m.agent_id = gone.agent_id AND m.user_id = gone.user_id
"""
INSERT_MANAGERS = """
    INSERT INTO agent_manager (agent_id, user_id)
    SELECT * FROM unnest(%(agent_id)b::uuid[], %(user_id)b::uuid[])
    ON CONFLICT DO NOTHING
"""


async def select_agents(db: Db, ids: Iterable[UUID]) -> dict[UUID, AgentRow]:
    async with db.cursor(row_factory=class_row(AgentRow)) as cursor:
        await cursor.execute(SELECT, [list(ids)])
        return {row.id: row for row in await cursor.fetchall()}


async def upsert_agents(db: Db, rows: Iterable[AgentRow]) -> None:
    await db.execute(UPSERT, columns(rows))


async def replace_managers(db: Db, managing: Mapping[tuple[UUID, UUID], bool]) -> None:
    """Set for each (agent, user) whether the user manages the agent."""
    rows = {
        wanted: [
            ManagerRow(agent_id=agent_id, user_id=user_id)
            for (agent_id, user_id), manages in managing.items()
            if manages is wanted
        ]
        for wanted in (False, True)
    }
    if rows[False]:
        await db.execute(DELETE_MANAGERS, columns(rows[False]))
    if rows[True]:
        await db.execute(INSERT_MANAGERS, columns(rows[True]))
