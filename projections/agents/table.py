"""Writes to the agents' read tables."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString
from uuid import UUID

from psycopg.rows import class_row

from projections.engine.arrays import columns
from service.database import Db


@dataclass(slots=True, kw_only=True)
class AgentRow:
    id: UUID
    name: str
    description: str
    is_retired: bool = False
    version: int
    created_at: datetime
    updated_at: datetime


@dataclass(slots=True, kw_only=True)
class UserOfAgentRow:
    agent_id: UUID
    user_id: UUID


SELECT = """
    SELECT id, name, description, is_retired, version, created_at, updated_at
      FROM agent
     WHERE id = ANY (%s)
"""
UPSERT = """
    INSERT INTO agent (
           id, name, description, is_retired, version, created_at, updated_at)
    SELECT *
      FROM unnest(
           %(id)b::uuid[], %(name)b::text[], %(description)b::text[],
           %(is_retired)b::boolean[], %(version)b::bigint[],
           %(created_at)b::timestamptz[],
           %(updated_at)b::timestamptz[])
    ON CONFLICT (id) DO UPDATE
       SET name = excluded.name,
           description = excluded.description,
           is_retired = excluded.is_retired,
           version = excluded.version,
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
DELETE_READERS = """
    DELETE FROM agent_reader r
     USING unnest(%(agent_id)b::uuid[], %(user_id)b::uuid[])
           AS gone (agent_id, user_id)
     WHERE r.agent_id = gone.agent_id AND r.user_id = gone.user_id
"""
INSERT_READERS = """
    INSERT INTO agent_reader (agent_id, user_id)
    SELECT * FROM unnest(%(agent_id)b::uuid[], %(user_id)b::uuid[])
    ON CONFLICT DO NOTHING
"""

UsersOfAgents = Mapping[tuple[UUID, UUID], bool]
"""By (agent, user): whether the user is a manager, or a reader, of the agent."""


async def select_agents(db: Db, ids: Iterable[UUID]) -> dict[UUID, AgentRow]:
    async with db.cursor(row_factory=class_row(AgentRow)) as cursor:
        await cursor.execute(SELECT, [list(ids)])
        return {row.id: row for row in await cursor.fetchall()}


async def upsert_agents(db: Db, rows: Iterable[AgentRow]) -> None:
    await db.execute(UPSERT, columns(rows))


async def replace_managers(db: Db, managing: UsersOfAgents) -> None:
    await _replace(db, managing, delete=DELETE_MANAGERS, insert=INSERT_MANAGERS)


async def replace_readers(db: Db, reading: UsersOfAgents) -> None:
    await _replace(db, reading, delete=DELETE_READERS, insert=INSERT_READERS)


async def _replace(
    db: Db, users: UsersOfAgents, *, delete: LiteralString, insert: LiteralString
) -> None:
    for statement, wanted in ((delete, False), (insert, True)):
        rows = [
            UserOfAgentRow(agent_id=agent_id, user_id=user_id)
            for (agent_id, user_id), belongs in users.items()
            if belongs is wanted
        ]
        if rows:
            await db.execute(statement, columns(rows))
