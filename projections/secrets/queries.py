"""Queries of secrets, without their values."""

from datetime import datetime
from uuid import UUID

from psycopg.rows import dict_row
from typing_extensions import TypedDict

from service.database import Db
from service.secrets.resource import SecretResource

OWN = """
    SELECT s.name, s.version, v.fingerprint, v.created_at AS updated_at,
           v.created_by AS updated_by, s.created_at
      FROM read.secret s
      JOIN read.secret_version v ON v.secret_id = s.id AND v.version = s.version
     WHERE s.owner_id = %(owner_id)s
       AND NOT s.is_deleted
       AND (%(name)s::text IS NULL OR s.name = %(name)s)
       AND (%(after)s::text IS NULL OR s.name > %(after)s)
     ORDER BY s.name
     LIMIT %(limit)s
"""
VERSIONS = """
    SELECT v.version, v.fingerprint, v.restored_version, v.created_at, v.created_by,
           v.destroyed_at
      FROM read.secret s
      JOIN read.secret_version v ON v.secret_id = s.id
     WHERE s.owner_id = %(owner_id)s
       AND s.name = %(name)s
       AND (%(before)s::bigint IS NULL OR v.version < %(before)s)
     ORDER BY v.version DESC
     LIMIT %(limit)s
"""


class ListedSecret(SecretResource):
    created_at: datetime


class SecretVersion(TypedDict):
    """``destroyed_at`` is null while the value exists."""

    version: int
    fingerprint: str
    restored_version: int | None
    created_at: datetime
    created_by: UUID
    destroyed_at: datetime | None


async def own_secrets(
    db: Db,
    *,
    owner_id: UUID,
    limit: int,
    after: str | None = None,
    name: str | None = None,
) -> list[ListedSecret]:
    """Return secrets of one owner, by name."""
    async with db.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(
            OWN, {"owner_id": owner_id, "name": name, "after": after, "limit": limit}
        )
        return await cursor.fetchall()  # type: ignore[return-value]  # its columns


async def versions_of(
    db: Db,
    *,
    owner_id: UUID,
    name: str,
    before: int | None,
    limit: int,
) -> list[SecretVersion]:
    """Return versions of an owner's secret, also of earlier lives, latest first."""
    async with db.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(
            VERSIONS,
            {"owner_id": owner_id, "name": name, "before": before, "limit": limit},
        )
        return await cursor.fetchall()  # type: ignore[return-value]  # its columns
