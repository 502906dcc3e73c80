"""Reads and writes of the projector's tables."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from psycopg.rows import class_row

from projections.engine.arrays import columns
from projections.engine.rows import fetched_in_turns
from projections.tool_rules.spans import (
    AnySpan,
    DefinitionSpan,
    HoldingSpan,
    RuleSpan,
)
from service.database import Db
from service.pacing import Pace

Pair = tuple[UUID, UUID]

# So many take some milliseconds.
ROWS_AT_ONCE: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesChange:
    agent_id: UUID
    connector_id: UUID
    position: int


LASTING_RULES = """
    SELECT agent_id, connector_id, pattern, stance, search_key, since, until
      FROM (SELECT agent_id, connector_id
              FROM tool_rules_change
             WHERE agent_id = ANY (%(cleared)b::uuid[])
             UNION
            SELECT *
              FROM unnest(%(agent_id)b::uuid[], %(connector_id)b::uuid[])
           ) AS changed (agent_id, connector_id)
      JOIN tool_rule USING (agent_id, connector_id)
     WHERE until IS NULL
"""
INSERT_RULES = """
    INSERT INTO tool_rule (
           agent_id, connector_id, pattern, stance, search_key, since, until)
    SELECT *
      FROM unnest(
           %(agent_id)b::uuid[], %(connector_id)b::uuid[], %(pattern)b::text[],
           %(stance)b::text[], %(search_key)b::bigint[], %(since)b::bigint[],
           %(until)b::bigint[])
"""
END_RULES = """
    UPDATE tool_rule r
       SET until = ended.until
      FROM unnest(
           %(agent_id)b::uuid[], %(connector_id)b::uuid[], %(search_key)b::bigint[],
           %(pattern)b::text[], %(since)b::bigint[], %(until)b::bigint[])
           AS ended (agent_id, connector_id, search_key, pattern, since, until)
     WHERE (r.agent_id, r.connector_id, r.search_key, r.pattern, r.since)
         = (ended.agent_id, ended.connector_id, ended.search_key,
            ended.pattern COLLATE "C", ended.since)
"""
INSERT_CHANGES = """
    INSERT INTO tool_rules_change (agent_id, connector_id, position)
    SELECT *
      FROM unnest(
           %(agent_id)b::uuid[], %(connector_id)b::uuid[], %(position)b::bigint[])
"""
LASTING_HOLDINGS = """
    SELECT connector_id, agent_id, since, until
      FROM holding
     WHERE until IS NULL
       AND (connector_id = ANY (%(retired)b::uuid[])
            OR (connector_id, agent_id) IN (
               SELECT *
                 FROM unnest(%(connector_id)b::uuid[], %(agent_id)b::uuid[])))
"""
INSERT_HOLDINGS = """
    INSERT INTO holding (connector_id, agent_id, since, until)
    SELECT *
      FROM unnest(
           %(connector_id)b::uuid[], %(agent_id)b::uuid[], %(since)b::bigint[],
           %(until)b::bigint[])
"""
END_HOLDINGS = """
    UPDATE holding h
       SET until = ended.until
      FROM unnest(
           %(connector_id)b::uuid[], %(agent_id)b::uuid[], %(since)b::bigint[],
           %(until)b::bigint[]) AS ended (connector_id, agent_id, since, until)
     WHERE (h.connector_id, h.agent_id, h.since)
         = (ended.connector_id, ended.agent_id, ended.since)
"""
LASTING_DEFINITIONS = """
    SELECT connector_id, tool, observed, accepted, first_seen, is_unacceptable, since,
           until
      FROM unnest(%(connector_id)b::uuid[], %(tool)b::text[])
           AS named (connector_id, tool)
      JOIN tool_definition USING (connector_id, tool)
     WHERE until IS NULL
"""
FIRST_SEEN = """
    SELECT connector_id, count(*)
      FROM tool_definition
     WHERE connector_id = ANY (%s) AND until IS NULL AND first_seen IS NOT NULL
     GROUP BY connector_id
"""
INSERT_DEFINITIONS = """
    INSERT INTO tool_definition (
           connector_id, tool, observed, accepted, first_seen, is_unacceptable, since,
           until)
    SELECT *
      FROM unnest(
           %(connector_id)b::uuid[], %(tool)b::text[], %(observed)b::text[],
           %(accepted)b::text[], %(first_seen)b::text[],
           %(is_unacceptable)b::boolean[], %(since)b::bigint[], %(until)b::bigint[])
"""
END_DEFINITIONS = """
    UPDATE tool_definition d
       SET until = ended.until
      FROM unnest(
           %(connector_id)b::uuid[], %(tool)b::text[], %(since)b::bigint[],
           %(until)b::bigint[]) AS ended (connector_id, tool, since, until)
     WHERE (d.connector_id, d.tool, d.since)
         = (ended.connector_id, ended.tool COLLATE "C", ended.since)
"""


async def select(
    db: Db, kind: type[AnySpan], statement: str, asked: Mapping[str, Any]
) -> list[AnySpan]:
    async with db.cursor(row_factory=class_row(kind)) as cursor:
        await cursor.execute(statement, asked, binary=True)
        return await fetched_in_turns(cursor)


async def lasting_rules(
    db: Db, pairs: Collection[Pair], cleared: Collection[UUID]
) -> list[RuleSpan]:
    """Return the rules of (agent, connector) pairs, and all those of some agents."""
    asked = {
        "cleared": [*cleared],
        "agent_id": [agent_id for agent_id, _ in pairs],
        "connector_id": [connector_id for _, connector_id in pairs],
    }
    return await select(db, RuleSpan, LASTING_RULES, asked)


async def lasting_holdings(
    db: Db, pairs: Collection[Pair], retired: Collection[UUID]
) -> list[HoldingSpan]:
    """Return those of (connector, agent) pairs, and all those of some connectors."""
    asked = {
        "retired": [*retired],
        "connector_id": [connector_id for connector_id, _ in pairs],
        "agent_id": [agent_id for _, agent_id in pairs],
    }
    return await select(db, HoldingSpan, LASTING_HOLDINGS, asked)


async def lasting_definitions(
    db: Db, named: Collection[tuple[UUID, str]]
) -> list[DefinitionSpan]:
    """Return the definitions of (connector, tool) pairs."""
    asked = {
        "connector_id": [connector_id for connector_id, _ in named],
        "tool": [tool for _, tool in named],
    }
    return await select(db, DefinitionSpan, LASTING_DEFINITIONS, asked)


async def first_seen_of(db: Db, connector_ids: Collection[UUID]) -> dict[UUID, int]:
    """Return how many tools that were never accepted each connector has shown."""
    cursor = await db.execute(FIRST_SEEN, [[*connector_ids]])
    return dict(await cursor.fetchall())


async def write(db: Db, statement: str, rows: Sequence[object]) -> None:
    """Insert rows, or end spans, so many at a time."""
    pace = Pace()
    for first in range(0, len(rows), ROWS_AT_ONCE):
        await pace.pause()
        await db.execute(statement, columns(rows[first : first + ROWS_AT_ONCE]))
