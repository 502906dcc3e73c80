"""Queries of tool rules, and of the grants and connectors around them."""

from collections.abc import Sequence
from uuid import UUID

from psycopg.rows import dict_row
from typing_extensions import TypedDict

from service.database import Db
from service.tool_rules.decision import Stance

OWNED_AND_HELD = """
    SELECT c.id
      FROM read.connector c JOIN read.connector_grant g ON g.connector_id = c.id
     WHERE g.agent_id = %s AND g.state = 'granted'
       AND c.owner_id = %s AND NOT c.is_retired
"""
HELD = """
    SELECT connector_id
      FROM read.connector_grant
     WHERE agent_id = %s AND state = 'granted' AND connector_id = ANY (%s)
"""
OF_CONNECTOR = """
    SELECT agent_id, pattern AS tool_pattern, stance, since AS position
      FROM read.tool_rule
     WHERE connector_id = %(connector_id)s AND until IS NULL
       AND (%(agent_id)s::uuid IS NULL
            OR (agent_id, pattern) > (%(agent_id)s::uuid, %(pattern)s::text))
     ORDER BY agent_id, pattern
     LIMIT %(limit)s
"""
OWNS = "SELECT owner_id = %s FROM read.connector WHERE id = %s AND NOT is_retired"


class RuleOnConnector(TypedDict):
    """One agent's rule; ``position`` is that of the event that added it."""

    agent_id: UUID
    tool_pattern: str
    stance: Stance
    position: int


async def connectors_owned_and_held(
    db: Db, *, agent_id: UUID, owner_id: UUID
) -> set[UUID]:
    """Return the connectors of one owner that an agent holds."""
    cursor = await db.execute(OWNED_AND_HELD, [agent_id, owner_id])
    return {row[0] for row in await cursor.fetchall()}


async def connectors_held(
    db: Db, *, agent_id: UUID, among: Sequence[UUID]
) -> set[UUID]:
    """Return the given connectors that an agent holds."""
    cursor = await db.execute(HELD, [agent_id, list(among)])
    return {row[0] for row in await cursor.fetchall()}


async def owns_connector(db: Db, *, connector_id: UUID, user_id: UUID) -> bool | None:
    """Whether a user owns a connector; None when there is none."""
    row = await (await db.execute(OWNS, [user_id, connector_id])).fetchone()
    return row[0] if row else None


async def rules_on_connector(
    db: Db,
    *,
    connector_id: UUID,
    after: tuple[UUID, str] | None,
    limit: int,
) -> list[RuleOnConnector]:
    """Return agents' rules on a connector by agent, then by pattern."""
    agent_id, pattern = after or (None, None)
    async with db.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(
            OF_CONNECTOR,
            {
                "connector_id": connector_id,
                "agent_id": agent_id,
                "pattern": pattern,
                "limit": limit,
            },
        )
        return await cursor.fetchall()  # type: ignore[return-value]
