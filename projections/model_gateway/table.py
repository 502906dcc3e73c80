"""Reads and writes of the projector's tables."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from psycopg.rows import class_row

from projections.engine.arrays import columns
from service.database import Db

Pair = tuple[UUID, UUID]


@dataclass(slots=True, kw_only=True)
class ConnectionRow:
    id: UUID
    owner_id: UUID
    settings: str
    is_retired: bool = False
    version: int
    created_at: datetime
    updated_at: datetime


@dataclass(slots=True, kw_only=True)
class PresetRow:
    id: UUID
    owner_id: UUID
    terms: str
    is_public: bool
    is_retired: bool = False
    version: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteRow:
    agent_id: UUID
    number: int
    model: str
    preset_id: UUID | None
    tier: str | None
    is_own: bool


SELECT_CONNECTIONS: Final = """
    SELECT id, owner_id, settings, is_retired, version, created_at, updated_at
      FROM model_connection
     WHERE id = ANY (%s)
"""
UPSERT_CONNECTIONS: Final = """
    INSERT INTO model_connection (
           id, owner_id, settings, is_retired, version, created_at, updated_at)
    SELECT *
      FROM unnest(
           %(id)b::uuid[], %(owner_id)b::uuid[], %(settings)b::text[],
           %(is_retired)b::boolean[], %(version)b::bigint[],
           %(created_at)b::timestamptz[], %(updated_at)b::timestamptz[])
    ON CONFLICT (id) DO UPDATE
       SET settings = excluded.settings,
           is_retired = excluded.is_retired,
           version = excluded.version,
           updated_at = excluded.updated_at
"""
SELECT_PRESETS: Final = """
    SELECT id, owner_id, terms, is_public, is_retired, version, created_at,
           updated_at
      FROM model_preset
     WHERE id = ANY (%s)
"""
UPSERT_PRESETS: Final = """
    INSERT INTO model_preset (
           id, owner_id, terms, is_public, is_retired, version, created_at, updated_at)
    SELECT *
      FROM unnest(
           %(id)b::uuid[], %(owner_id)b::uuid[], %(terms)b::text[],
           %(is_public)b::boolean[], %(is_retired)b::boolean[], %(version)b::bigint[],
           %(created_at)b::timestamptz[], %(updated_at)b::timestamptz[])
    ON CONFLICT (id) DO UPDATE
       SET terms = excluded.terms,
           is_public = excluded.is_public,
           is_retired = excluded.is_retired,
           version = excluded.version,
           updated_at = excluded.updated_at
"""
DELETE_GRANTS: Final = """
    DELETE FROM model_preset_grant
     WHERE preset_id = ANY (%(retired)b::uuid[])
        OR (preset_id, agent_id) IN (
           SELECT * FROM unnest(%(preset_id)b::uuid[], %(agent_id)b::uuid[]))
"""
INSERT_GRANTS: Final = """
    INSERT INTO model_preset_grant (preset_id, agent_id)
    SELECT * FROM unnest(%(preset_id)b::uuid[], %(agent_id)b::uuid[])
"""
DELETE_TARGETS: Final = "DELETE FROM model_preset_target WHERE preset_id = ANY (%s)"
INSERT_TARGETS: Final = """
    INSERT INTO model_preset_target (preset_id, connection_id)
    SELECT * FROM unnest(%b::uuid[], %b::uuid[])
"""
DELETE_TIERS: Final = "DELETE FROM model_tier WHERE tier = ANY (%s)"
INSERT_TIERS: Final = """
    INSERT INTO model_tier (tier, preset_id)
    SELECT * FROM unnest(%b::text[], %b::uuid[])
"""
DELETE_ROUTES: Final = "DELETE FROM model_route WHERE agent_id = ANY (%s)"
INSERT_ROUTES: Final = """
    INSERT INTO model_route (agent_id, number, model, preset_id, tier, is_own)
    SELECT *
      FROM unnest(
           %(agent_id)b::uuid[], %(number)b::integer[], %(model)b::text[],
           %(preset_id)b::uuid[], %(tier)b::text[], %(is_own)b::boolean[])
"""


async def select_connections(
    db: Db, ids: Collection[UUID]
) -> dict[UUID, ConnectionRow]:
    return await _by_id(db, ConnectionRow, SELECT_CONNECTIONS, ids)


async def select_presets(db: Db, ids: Collection[UUID]) -> dict[UUID, PresetRow]:
    return await _by_id(db, PresetRow, SELECT_PRESETS, ids)


async def upsert_connections(db: Db, rows: Collection[ConnectionRow]) -> None:
    if rows:
        await db.execute(UPSERT_CONNECTIONS, columns(rows))


async def upsert_presets(db: Db, rows: Collection[PresetRow]) -> None:
    if rows:
        await db.execute(UPSERT_PRESETS, columns(rows))


async def replace_grants(
    db: Db, grants: Mapping[Pair, bool], retired: Collection[UUID]
) -> None:
    """Set which (preset, agent) pairs are granted; retired presets lose all."""
    if grants or retired:
        await db.execute(DELETE_GRANTS, {"retired": [*retired], **_pairs(grants)})
    granted = [
        pair
        for pair, is_granted in grants.items()
        if is_granted and pair[0] not in retired
    ]
    if granted:
        await db.execute(INSERT_GRANTS, _pairs(granted))


async def replace_targets(db: Db, targets: Mapping[UUID, Collection[UUID]]) -> None:
    """Set the connections that some presets name."""
    if not targets:
        return
    await db.execute(DELETE_TARGETS, [[*targets]])
    pairs = [(preset, each) for preset, named in targets.items() for each in named]
    if pairs:
        await db.execute(INSERT_TARGETS, [*map(list, zip(*pairs, strict=True))])


async def replace_tiers(db: Db, tiers: Mapping[str, UUID | None]) -> None:
    """Set the presets of some tiers; None removes a tier."""
    if not tiers:
        return
    await db.execute(DELETE_TIERS, [[*tiers]])
    there = {tier: preset for tier, preset in tiers.items() if preset is not None}
    if there:
        await db.execute(INSERT_TIERS, [[*there], [*there.values()]])


async def replace_routes(db: Db, routes: Mapping[UUID, Sequence[RouteRow]]) -> None:
    """Set all routes of some agents."""
    if not routes:
        return
    await db.execute(DELETE_ROUTES, [[*routes]])
    rows = [row for of_agent in routes.values() for row in of_agent]
    if rows:
        await db.execute(INSERT_ROUTES, columns(rows))


async def _by_id(
    db: Db, kind: type[Any], statement: str, ids: Collection[UUID]
) -> dict[UUID, Any]:
    async with db.cursor(row_factory=class_row(kind)) as cursor:
        await cursor.execute(statement, [list(ids)])
        return {row.id: row for row in await cursor.fetchall()}


def _pairs(pairs: Collection[Pair]) -> dict[str, list[UUID]]:
    return {
        "preset_id": [preset for preset, _ in pairs],
        "agent_id": [agent for _, agent in pairs],
    }
