"""Queries of connections, presets, and the agents that are routed to them."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import dict_row

from service.database import Db
from service.model_gateway.connections.resource import ConnectionResource
from service.model_gateway.presets.resource import PresetResource
from service.model_gateway.presets.terms import PresetTerms
from service.model_gateway.recorded_models import RECORDED_MAX, RecordedModel
from service.model_gateway.routed_agents import ROUTED_MAX, RoutedAgent

CONNECTIONS = """
    SELECT c.id, c.owner_id, c.settings->>'name' AS name,
           c.settings->>'base_url' AS base_url, c.settings->'dialects' AS dialects,
           c.settings->>'provider' AS provider,
           c.settings->'credential' AS credential, c.version, c.created_at,
           c.updated_at
      FROM read.model_connection c
     WHERE NOT c.is_retired
       AND (%(after)s::uuid IS NULL OR c.id > %(after)s)
       AND (%(everything)s OR c.owner_id = %(user_id)s)
     ORDER BY c.id
     LIMIT %(limit)s
"""
AGENTS_SEEN = """
    WITH agents_seen AS (
         SELECT agent_id FROM read.agent_manager WHERE user_id = %(user_id)s
          UNION
         SELECT agent_id FROM read.agent_reader WHERE user_id = %(user_id)s)
"""
PRESETS = f"""
    {AGENTS_SEEN}
    SELECT p.id, p.owner_id, p.terms, p.version, p.created_at, p.updated_at
      FROM read.model_preset p
     WHERE NOT p.is_retired
       AND (%(after)s::uuid IS NULL OR p.id > %(after)s)
       AND (%(agent_id)s::uuid IS NULL OR p.is_public OR EXISTS (
            SELECT FROM read.model_preset_grant g
             WHERE g.preset_id = p.id AND g.agent_id = %(agent_id)s
               AND (%(everything)s OR p.owner_id = %(user_id)s
                    OR g.agent_id IN (SELECT agent_id FROM agents_seen))))
       AND (%(everything)s OR p.is_public OR p.owner_id = %(user_id)s
            OR p.id IN (SELECT g.preset_id
                          FROM read.model_preset_grant g
                          JOIN agents_seen USING (agent_id)))
     ORDER BY p.id
     LIMIT %(limit)s
"""  # noqa: S608  # constants
SEES_GRANTED = f"""
    {AGENTS_SEEN}
    SELECT
      FROM read.model_preset_grant g
      JOIN agents_seen USING (agent_id)
     WHERE g.preset_id = %(preset_id)s
     LIMIT 1
"""  # noqa: S608  # constants
RECORDED = """
    SELECT model, sum(model_uses)::bigint, max(quarter)
      FROM read.usage_of_quarter
     WHERE agent_id = %(agent_id)s AND quarter >= %(since)s AND model IS NOT NULL
       AND model_uses > 0
     GROUP BY model
     ORDER BY sum(model_uses) DESC, model
     LIMIT %(limit)s
"""
ROUTED_TO_PRESET = """
    SELECT r.agent_id, r.tier, array_agg(r.model ORDER BY r.number) AS models
      FROM read.model_route r
      LEFT JOIN read.model_tier t ON t.tier = r.tier AND NOT r.is_own
     WHERE coalesce(r.preset_id, t.preset_id) = %(preset_id)s
     GROUP BY r.agent_id, r.tier
     ORDER BY r.agent_id, r.tier NULLS FIRST
     LIMIT %(limit)s
"""
ROUTED_TO_TIERS = """
    SELECT r.agent_id, r.tier, array_agg(r.model ORDER BY r.number) AS models
      FROM read.model_route r
     WHERE r.tier = ANY (%(tiers)s) AND NOT r.is_own
     GROUP BY r.agent_id, r.tier
     ORDER BY r.agent_id, r.tier
     LIMIT %(limit)s
"""


async def visible_connections(
    db: Db, *, user_id: UUID, everything: bool, after: UUID | None, limit: int
) -> list[ConnectionResource]:
    """Return the connections of a user, or all, by id."""
    asked = {
        "user_id": user_id,
        "everything": everything,
        "after": after,
        "limit": limit,
    }
    async with db.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(CONNECTIONS, asked)
        return await cursor.fetchall()  # type: ignore[return-value]  # its columns


async def visible_presets(
    db: Db,
    *,
    user_id: UUID,
    everything: bool,
    agent_id: UUID | None,
    after: UUID | None,
    limit: int,
) -> list[PresetResource]:
    """Return the presets that a user can see, by id; or those an agent may call."""
    asked = {
        "user_id": user_id,
        "everything": everything,
        "agent_id": agent_id,
        "after": after,
        "limit": limit,
    }
    async with db.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(PRESETS, asked)
        return [*map(_preset, await cursor.fetchall())]


def _preset(row: Mapping[str, Any]) -> PresetResource:
    terms: PresetTerms = row["terms"]
    return {
        "id": row["id"],
        "owner_id": row["owner_id"],
        **terms,
        "version": row["version"],
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }


async def sees_granted(db: Db, *, preset_id: UUID, user_id: UUID) -> bool:
    """Say whether a user manages or reads an agent that a preset is granted to."""
    asked = {"preset_id": preset_id, "user_id": user_id}
    return await (await db.execute(SEES_GRANTED, asked)).fetchone() is not None


async def routed_to_preset(db: Db, preset_id: UUID) -> list[RoutedAgent]:
    async with db.cursor(row_factory=dict_row) as cursor:
        asked = {"preset_id": preset_id, "limit": ROUTED_MAX + 1}
        await cursor.execute(ROUTED_TO_PRESET, asked)
        return await cursor.fetchall()  # type: ignore[return-value]  # its columns


async def routed_to_tiers(db: Db, tiers: Collection[str]) -> list[RoutedAgent]:
    async with db.cursor(row_factory=dict_row) as cursor:
        asked = {"tiers": [*tiers], "limit": ROUTED_MAX + 1}
        await cursor.execute(ROUTED_TO_TIERS, asked)
        return await cursor.fetchall()  # type: ignore[return-value]  # its columns


async def recorded_models(
    db: Db, *, agent_id: UUID, since: datetime
) -> list[RecordedModel]:
    """Return the models of an agent's recorded turns, those called most first."""
    asked = {"agent_id": agent_id, "since": since, "limit": RECORDED_MAX + 1}
    cursor = await db.execute(RECORDED, asked)
    return [RecordedModel(*row) for row in await cursor.fetchall()]
