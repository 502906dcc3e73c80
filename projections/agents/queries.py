"""Queries of agents and their managers."""

from collections.abc import Iterable
from uuid import UUID

from psycopg.rows import dict_row

from service.agents.resource import AgentResource
from service.database import Db

VISIBLE = """
    SELECT a.id, a.name, a.description,
           CASE WHEN a.is_retired THEN 'retired' ELSE 'active' END AS state,
           ARRAY(SELECT m.user_id FROM read.agent_manager m
                  WHERE m.agent_id = a.id ORDER BY m.user_id) AS manager_ids,
           ARRAY(SELECT r.user_id FROM read.agent_reader r
                  WHERE r.agent_id = a.id ORDER BY r.user_id) AS reader_ids,
           a.version, a.created_at, a.updated_at
      FROM read.agent a
     WHERE (%(id)s::uuid IS NULL OR a.id = %(id)s)
       AND (%(after)s::uuid IS NULL OR a.id > %(after)s)
       AND (%(everything)s
            OR EXISTS (SELECT FROM read.agent_manager m
                        WHERE m.agent_id = a.id AND m.user_id = %(user_id)s)
            OR EXISTS (SELECT FROM read.agent_reader r
                        WHERE r.agent_id = a.id AND r.user_id = %(user_id)s))
     ORDER BY a.id
     LIMIT %(limit)s
"""
MANAGED_AMONG = """
    SELECT agent_id FROM read.agent_manager WHERE user_id = %s AND agent_id = ANY (%s)
"""


async def visible_agents(
    db: Db,
    *,
    user_id: UUID,
    everything: bool,
    agent_id: UUID | None = None,
    after: UUID | None = None,
    limit: int = 1,
) -> list[AgentResource]:
    """Return the agents that a user manages or reads, or all, by id; or one."""
    async with db.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(
            VISIBLE,
            {
                "id": agent_id,
                "user_id": user_id,
                "everything": everything,
                "after": after,
                "limit": limit,
            },
        )
        return await cursor.fetchall()  # type: ignore[return-value]


async def managed_among(db: Db, user_id: UUID, agent_ids: Iterable[UUID]) -> set[UUID]:
    """Return the given agents that a user manages."""
    cursor = await db.execute(MANAGED_AMONG, [user_id, list(agent_ids)])
    return {row[0] for row in await cursor.fetchall()}
