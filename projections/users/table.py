"""Writes to the users' read tables."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from projections.engine.arrays import columns
from service.database import Db


@dataclass(slots=True, kw_only=True)
class UserRow:
    id: UUID
    name: str | None
    sealed_name: str | None
    name_version: int
    roles: list[str]
    is_disabled: bool
    is_erased: bool
    created: int
    version: int
    created_at: datetime
    updated_at: datetime


@dataclass(slots=True, kw_only=True)
class TokenRow:
    id: UUID
    user_id: UUID
    label: str
    issued: int
    created_at: datetime
    expires_at: datetime | None


SELECT_USERS = """
    SELECT id, name, sealed_name, name_version, roles, is_disabled, is_erased, created,
           version, created_at, updated_at
      FROM user_account
     WHERE id = ANY (%s)
"""
# A list of lists is no array of arrays of different lengths; JSON carries it.
UPSERT_USERS = """
    INSERT INTO user_account (
           id, name, sealed_name, name_version, roles, is_disabled, is_erased, created,
           version, created_at, updated_at)
    SELECT given.id, given.name, given.sealed_name, given.name_version,
           ARRAY(SELECT jsonb_array_elements_text(given.roles)),
           given.is_disabled, given.is_erased, given.created,
           given.version, given.created_at, given.updated_at
      FROM unnest(
           %(id)b::uuid[], %(name)b::text[], %(sealed_name)b::text[],
           %(name_version)b::bigint[], %(roles)b::jsonb[], %(is_disabled)b::boolean[],
           %(is_erased)b::boolean[], %(created)b::bigint[], %(version)b::bigint[],
           %(created_at)b::timestamptz[], %(updated_at)b::timestamptz[])
           AS given (id, name, sealed_name, name_version, roles, is_disabled, is_erased,
                     created, version, created_at, updated_at)
    ON CONFLICT (id) DO UPDATE
       SET name = excluded.name,
           sealed_name = excluded.sealed_name,
           name_version = excluded.name_version,
           roles = excluded.roles,
           is_disabled = excluded.is_disabled,
           is_erased = excluded.is_erased,
           version = excluded.version,
           updated_at = excluded.updated_at
"""
INSERT_TOKENS = """
    INSERT INTO user_token (id, user_id, label, issued, created_at, expires_at)
    SELECT *
      FROM unnest(
           %(id)b::uuid[], %(user_id)b::uuid[], %(label)b::text[],
           %(issued)b::bigint[], %(created_at)b::timestamptz[],
           %(expires_at)b::timestamptz[])
"""
REVOKE_TOKENS = """
    UPDATE user_token t
       SET revoked_at = gone.revoked_at
      FROM unnest(%b::uuid[], %b::timestamptz[]) AS gone (id, revoked_at)
     WHERE t.id = gone.id
"""


async def select_users(db: Db, ids: Iterable[UUID]) -> dict[UUID, UserRow]:
    async with db.cursor(row_factory=class_row(UserRow)) as cursor:
        await cursor.execute(SELECT_USERS, [list(ids)])
        return {row.id: row for row in await cursor.fetchall()}


async def upsert_users(db: Db, rows: list[UserRow]) -> None:
    if rows:
        given = columns(rows)
        given["roles"] = [Jsonb(roles) for roles in given["roles"]]
        await db.execute(UPSERT_USERS, given)


async def insert_tokens(db: Db, rows: list[TokenRow]) -> None:
    if rows:
        await db.execute(INSERT_TOKENS, columns(rows))


async def revoke_tokens(db: Db, revoked: dict[UUID, datetime]) -> None:
    if revoked:
        await db.execute(REVOKE_TOKENS, [list(revoked), list(revoked.values())])
