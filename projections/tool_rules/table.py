"""Writes to the tool rules' read table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from projections.engine.arrays import columns
from service.database import Db


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRuleRow:
    agent_id: UUID
    connector_id: UUID
    pattern: str
    stance: str
    position: int


DELETE_OF_AGENTS = "DELETE FROM tool_rule WHERE agent_id = ANY (%s)"
DELETE_OF_PAIRS = """
    DELETE FROM tool_rule r
     USING unnest(%b::uuid[], %b::uuid[]) AS gone (agent_id, connector_id)
     WHERE r.agent_id = gone.agent_id AND r.connector_id = gone.connector_id
"""
INSERT = """
    INSERT INTO tool_rule (agent_id, connector_id, pattern, stance, position)
    SELECT *
      FROM unnest(
           %(agent_id)b::uuid[], %(connector_id)b::uuid[], %(pattern)b::text[],
           %(stance)b::text[], %(position)b::bigint[])
"""


async def delete_rules_of_agents(db: Db, agent_ids: Iterable[UUID]) -> None:
    await db.execute(DELETE_OF_AGENTS, [list(agent_ids)])


async def replace_rules(
    db: Db,
    pairs: Sequence[tuple[UUID, UUID]],
    rows: Sequence[ToolRuleRow],
) -> None:
    """Replace the rows of each (agent, connector) by its own of the given rows."""
    await db.execute(
        DELETE_OF_PAIRS, [[pair[0] for pair in pairs], [pair[1] for pair in pairs]]
    )
    if rows:
        await db.execute(INSERT, columns(rows))
