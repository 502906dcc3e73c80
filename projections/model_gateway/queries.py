"""Queries of connections, presets, and the agents that are routed to them."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson
from psycopg.rows import dict_row

from service.call_recording.modes import RecordMode
from service.database import Db
from service.model_gateway.connections.resource import ConnectionResource
from service.model_gateway.connections.settings import ConnectionSettings
from service.model_gateway.dialects import Dialect
from service.model_gateway.presets.resource import PresetResource
from service.model_gateway.presets.terms import PresetTerms
from service.model_gateway.recorded_models import RECORDED_MAX, RecordedModel
from service.model_gateway.routed_agents import ROUTED_MAX, FoundAgent
from service.principal import Principal

NAMED_MAX: Final = 1_000

CONNECTIONS = """
    SELECT id, owner_id, settings, version, created_at, updated_at
      FROM read.model_connection
     WHERE NOT is_retired
       AND (%(after)s::uuid IS NULL OR id > %(after)s)
       AND (%(everything)s OR owner_id = %(user_id)s)
     ORDER BY id
     LIMIT %(limit)s
"""
PRESETS_ON_CONNECTION = """
    SELECT p.id
      FROM read.model_preset_target t
      JOIN read.model_preset p ON p.id = t.preset_id
     WHERE t.connection_id = %(connection_id)s AND NOT p.is_retired
     ORDER BY p.id
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
# What a retired agent is routed to has no effect.
ROUTED = f"""
    {AGENTS_SEEN}
    SELECT r.agent_id, array_agg(r.model ORDER BY r.number) AS models,
           array_remove(array_agg(DISTINCT r.tier), NULL) AS tiers,
           %(everything)s OR r.agent_id IN (SELECT agent_id FROM agents_seen)
      FROM read.model_route r
      JOIN read.agent a ON a.id = r.agent_id AND NOT a.is_retired
      LEFT JOIN read.model_tier t ON t.tier = r.tier AND NOT r.is_own
"""  # noqa: S608  # constants
ROUTED_TO_PRESET = f"""{ROUTED}
     WHERE coalesce(r.preset_id, t.preset_id) = %(preset_id)s
     GROUP BY r.agent_id
     ORDER BY r.agent_id
     LIMIT %(limit)s
"""
ROUTED_TO_TIERS = f"""{ROUTED}
     WHERE r.tier = ANY (%(tiers)s) AND NOT r.is_own
     GROUP BY r.agent_id
     ORDER BY r.agent_id
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
        return [*map(_connection, await cursor.fetchall())]


async def presets_on_connection(db: Db, connection_id: UUID) -> list[UUID]:
    """Return the presets that name a connection, at most ``NAMED_MAX``."""
    asked = {"connection_id": connection_id, "limit": NAMED_MAX}
    cursor = await db.execute(PRESETS_ON_CONNECTION, asked)
    return [row[0] for row in await cursor.fetchall()]


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


def _connection(row: Mapping[str, Any]) -> ConnectionResource:
    settings: ConnectionSettings = orjson.loads(row["settings"])
    return {
        "id": row["id"],
        "owner_id": row["owner_id"],
        "name": settings["name"],
        "base_url": settings["base_url"],
        "dialects": [Dialect(each) for each in settings["dialects"]],
        "provider": settings["provider"],
        "credential": settings["credential"],
        "record_mode": RecordMode(settings["record_mode"]),
        "version": row["version"],
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }


def _preset(row: Mapping[str, Any]) -> PresetResource:
    terms: PresetTerms = orjson.loads(row["terms"])
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


async def routed_to_preset(
    db: Db, preset_id: UUID, *, principal: Principal
) -> list[FoundAgent]:
    return await _routed(db, ROUTED_TO_PRESET, principal, preset_id=preset_id)


async def routed_to_tiers(
    db: Db, tiers: Collection[str], *, principal: Principal
) -> list[FoundAgent]:
    return await _routed(db, ROUTED_TO_TIERS, principal, tiers=[*tiers])


async def _routed(
    db: Db, statement: str, principal: Principal, **asked: Any
) -> list[FoundAgent]:
    asked |= {
        "user_id": principal.user_id,
        "everything": principal.sees_everything,
        "limit": ROUTED_MAX + 1,
    }
    cursor = await db.execute(statement, asked)
    return [
        FoundAgent({"agent_id": agent_id, "models": models, "tiers": tiers}, is_seen)
        for agent_id, models, tiers, is_seen in await cursor.fetchall()
    ]


async def recorded_models(
    db: Db, *, agent_id: UUID, since: datetime
) -> list[RecordedModel]:
    """Return the models of an agent's recorded turns, those called most first."""
    asked = {"agent_id": agent_id, "since": since, "limit": RECORDED_MAX + 1}
    cursor = await db.execute(RECORDED, asked)
    return [RecordedModel(*row) for row in await cursor.fetchall()]
