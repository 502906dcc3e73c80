"""Writes to the secrets' read tables."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row

from projections.engine.arrays import columns
from service.database import Db


@dataclass(slots=True, kw_only=True)
class SecretRow:
    id: UUID
    owner_id: UUID
    name: str
    version: int
    created_at: datetime
    is_deleted: bool = False


@dataclass(slots=True, kw_only=True)
class VersionRow:
    secret_id: UUID
    version: int
    fingerprint: str
    restored_version: int | None = None
    created_at: datetime
    created_by: UUID
    destroyed_at: datetime | None = None


SELECT = """
    SELECT id, owner_id, name, version, created_at, is_deleted
      FROM secret
     WHERE id = ANY (%s)
"""
SELECT_KEPT_VERSIONS = """
    SELECT secret_id, version, fingerprint, restored_version,
           created_at, created_by, destroyed_at
      FROM secret_version
     WHERE secret_id = ANY (%s) AND destroyed_at IS NULL
"""
UPSERT = """
    INSERT INTO secret (id, owner_id, name, version, created_at, is_deleted)
    SELECT *
      FROM unnest(
           %(id)b::uuid[], %(owner_id)b::uuid[], %(name)b::text[],
           %(version)b::bigint[], %(created_at)b::timestamptz[],
           %(is_deleted)b::boolean[])
    ON CONFLICT (id) DO UPDATE
       SET version = excluded.version,
           created_at = excluded.created_at,
           is_deleted = excluded.is_deleted
"""
UPSERT_VERSIONS = """
    INSERT INTO secret_version (
           secret_id, version, fingerprint, restored_version,
           created_at, created_by, destroyed_at)
    SELECT *
      FROM unnest(
           %(secret_id)b::uuid[], %(version)b::bigint[], %(fingerprint)b::text[],
           %(restored_version)b::bigint[], %(created_at)b::timestamptz[],
           %(created_by)b::uuid[], %(destroyed_at)b::timestamptz[])
    ON CONFLICT (secret_id, version) DO UPDATE
       SET destroyed_at = excluded.destroyed_at
"""
DESTROY_VERSIONS_OF = """
    UPDATE secret_version v
       SET destroyed_at = given.destroyed_at
      FROM unnest(%b::uuid[], %b::timestamptz[]) AS given (owner_id, destroyed_at)
      JOIN secret s ON s.owner_id = given.owner_id
     WHERE v.secret_id = s.id AND v.destroyed_at IS NULL
"""


async def select_secrets(db: Db, ids: Collection[UUID]) -> dict[UUID, SecretRow]:
    async with db.cursor(row_factory=class_row(SecretRow)) as cursor:
        await cursor.execute(SELECT, [list(ids)])
        return {row.id: row for row in await cursor.fetchall()}


async def select_kept_versions(
    db: Db, secret_ids: Collection[UUID]
) -> dict[tuple[UUID, int], VersionRow]:
    """Return versions whose values can be opened, a few of each secret."""
    async with db.cursor(row_factory=class_row(VersionRow)) as cursor:
        await cursor.execute(SELECT_KEPT_VERSIONS, [list(secret_ids)])
        return {(row.secret_id, row.version): row for row in await cursor.fetchall()}


async def upsert_secrets(
    db: Db,
    secrets: Collection[SecretRow],
    versions: Collection[VersionRow],
) -> None:
    if secrets:
        await db.execute(UPSERT, columns(secrets))
    if versions:
        await db.execute(UPSERT_VERSIONS, columns(versions))


async def destroy_versions_of(db: Db, owners: dict[UUID, datetime]) -> None:
    """Mark the remaining values of some owners as destroyed."""
    if owners:
        await db.execute(DESTROY_VERSIONS_OF, [list(owners), list(owners.values())])
