"""Writes to the connectors' read tables."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from projections.engine.arrays import columns
from service.connectors.aggregate import STRICT
from service.connectors.resource import CredentialResource
from service.database import Db


@dataclass(slots=True, kw_only=True)
class ConnectorRow:
    id: UUID
    owner_id: UUID
    name: str
    url: str
    description: str
    offered_owner_id: UUID | None = None
    public_since: datetime | None = None
    made_public_by: UUID | None = None
    is_retired: bool = False
    slug: str
    has_chosen_slug: bool = False
    record_mode: str = STRICT
    protocol_revision: str | None = None
    credential: CredentialResource | None = None
    version: int
    created_at: datetime
    updated_at: datetime


@dataclass(slots=True, kw_only=True)
class GrantRow:
    connector_id: UUID
    agent_id: UUID
    state: str


SELECT = """
    SELECT id, owner_id, name, url, description, offered_owner_id, public_since,
           made_public_by, is_retired, slug, has_chosen_slug, record_mode,
           protocol_revision, credential, version, created_at, updated_at
      FROM connector
     WHERE id = ANY (%s)
"""
UPSERT = """
    INSERT INTO connector (
           id, owner_id, name, url, description, offered_owner_id, public_since,
           made_public_by, is_retired, slug, has_chosen_slug, record_mode,
           protocol_revision, credential, version, created_at, updated_at)
    SELECT *
      FROM unnest(
           %(id)b::uuid[], %(owner_id)b::uuid[], %(name)b::text[], %(url)b::text[],
           %(description)b::text[], %(offered_owner_id)b::uuid[],
           %(public_since)b::timestamptz[],
           %(made_public_by)b::uuid[], %(is_retired)b::boolean[],
           %(slug)b::text[], %(has_chosen_slug)b::boolean[], %(record_mode)b::text[],
           %(protocol_revision)b::text[], %(credential)b::jsonb[],
           %(version)b::bigint[],
           %(created_at)b::timestamptz[], %(updated_at)b::timestamptz[])
    ON CONFLICT (id) DO UPDATE
       SET owner_id = excluded.owner_id,
           name = excluded.name,
           url = excluded.url,
           description = excluded.description,
           offered_owner_id = excluded.offered_owner_id,
           public_since = excluded.public_since,
           made_public_by = excluded.made_public_by,
           is_retired = excluded.is_retired,
           slug = excluded.slug,
           has_chosen_slug = excluded.has_chosen_slug,
           record_mode = excluded.record_mode,
           protocol_revision = excluded.protocol_revision,
           credential = excluded.credential,
           version = excluded.version,
           updated_at = excluded.updated_at
"""
DELETE_GRANTS = """
    DELETE FROM connector_grant g
     USING unnest(%b::uuid[], %b::uuid[]) AS gone (connector_id, agent_id)
     WHERE g.connector_id = gone.connector_id AND g.agent_id = gone.agent_id
"""
DELETE_GRANTS_OF_CONNECTORS = (
    "DELETE FROM connector_grant WHERE connector_id = ANY (%s)"
)
UPSERT_GRANTS = """
    INSERT INTO connector_grant (connector_id, agent_id, state)
    SELECT *
      FROM unnest(%(connector_id)b::uuid[], %(agent_id)b::uuid[], %(state)b::text[])
    ON CONFLICT (connector_id, agent_id) DO UPDATE SET state = excluded.state
"""


async def select_connectors(db: Db, ids: Iterable[UUID]) -> dict[UUID, ConnectorRow]:
    async with db.cursor(row_factory=class_row(ConnectorRow)) as cursor:
        await cursor.execute(SELECT, [list(ids)])
        return {row.id: row for row in await cursor.fetchall()}


async def upsert_connectors(db: Db, rows: Iterable[ConnectorRow]) -> None:
    given = columns(rows)
    given["credential"] = [
        None if each is None else Jsonb(each) for each in given["credential"]
    ]
    await db.execute(UPSERT, given)


async def replace_grants(
    db: Db,
    states: dict[tuple[UUID, UUID], str | None],
    retired: Iterable[UUID],
) -> None:
    """Set the state of each (connector, agent), None for no grant."""
    gone = [pair for pair, state in states.items() if state is None]
    kept = [
        GrantRow(connector_id=connector_id, agent_id=agent_id, state=state)
        for (connector_id, agent_id), state in states.items()
        if state is not None
    ]
    if gone:
        await db.execute(
            DELETE_GRANTS, [[pair[0] for pair in gone], [pair[1] for pair in gone]]
        )
    if kept:
        await db.execute(UPSERT_GRANTS, columns(kept))
    await db.execute(DELETE_GRANTS_OF_CONNECTORS, [list(retired)])
